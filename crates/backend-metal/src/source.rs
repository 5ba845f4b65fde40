//! The kernels' source, composed of the files in `kernels/`.
//!
//! A module is what one library is compiled from. `#line` directives keep the places in error
//! messages those of the files. Templates are instantiated here, once for each format.

use std::fmt::Write as _;

use minfer_quant::{KvType, Quant};

use crate::arguments;
use crate::instances::{
    COLUMNS, FEW, MIXED, PARTS, attention_name, few_name, many_name, may_round, mixed_name,
    prefill_name,
};

/// Source text for one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name; kernels' names do not repeat it.
    pub name: &'static str,
    /// The text.
    pub text: String,
    /// Names of the kernels in it.
    pub kernels: Vec<String>,
}

/// A file of `kernels/`.
struct Fragment {
    path: &'static str,
    text: &'static str,
}

macro_rules! fragment {
    ($path:literal) => {
        Fragment { path: $path, text: include_str!(concat!("kernels/", $path)) }
    };
}

const WORDS: Fragment = fragment!("common/words.metal");
const FORMAT: Fragment = fragment!("common/format.metal");
const REDUCE: Fragment = fragment!("common/reduce.metal");
const ACTIVATION: Fragment = fragment!("common/activation.metal");
const CACHE: Fragment = fragment!("common/cache.metal");
const ONLINE: Fragment = fragment!("common/online.metal");
const SIX_BITS: Fragment = fragment!("quant/six_bits.metal");
const FEW_ROWS: Fragment = fragment!("common/few.metal");
const TILES: Fragment = fragment!("common/tiles.metal");
const PRODUCTS: Fragment = fragment!("common/products.metal");
const BEST: Fragment = fragment!("common/best.metal");
const NORM: Fragment = fragment!("common/norm.metal");
const ROTATE: Fragment = fragment!("common/rotate.metal");
const STORE: Fragment = fragment!("common/store.metal");

/// Every module of the device.
pub fn modules() -> Vec<Module> {
    vec![
        elementwise(),
        norms(),
        embed(),
        matmul_few(),
        matmul_mixed(),
        gate_up(),
        matmul_many(),
        expert_matmul(),
        expert_matmul_many(),
        kv_store(),
        attention(),
        attention_prefill(),
        select(),
    ]
}

/// The decoder of a format; nothing where kernels do not read it.
fn decoder(quant: Quant) -> Option<Fragment> {
    Some(match quant {
        Quant::F32 => fragment!("quant/f32.metal"),
        Quant::F16 => fragment!("quant/f16.metal"),
        Quant::BF16 => fragment!("quant/bf16.metal"),
        Quant::Q4_0 => fragment!("quant/q4_0.metal"),
        Quant::Q4_1 => fragment!("quant/q4_1.metal"),
        Quant::Q5_0 => fragment!("quant/q5_0.metal"),
        Quant::Q5_1 => fragment!("quant/q5_1.metal"),
        Quant::Q8_0 => fragment!("quant/q8_0.metal"),
        Quant::Q2_K => fragment!("quant/q2_k.metal"),
        Quant::Q3_K => fragment!("quant/q3_k.metal"),
        Quant::Q4_K => fragment!("quant/q4_k.metal"),
        Quant::Q5_K => fragment!("quant/q5_k.metal"),
        Quant::Q6_K => fragment!("quant/q6_k.metal"),
        Quant::Q8_K => fragment!("quant/q8_k.metal"),
        Quant::IQ4_NL => fragment!("quant/iq4_nl.metal"),
        Quant::IQ4_XS => fragment!("quant/iq4_xs.metal"),
        Quant::MXFP4 => fragment!("quant/mxfp4.metal"),
        Quant::IQ1_S
        | Quant::IQ1_M
        | Quant::IQ2_XXS
        | Quant::IQ2_XS
        | Quant::IQ2_S
        | Quant::IQ3_XXS
        | Quant::IQ3_S
        | Quant::NVFP4
        | Quant::TQ1_0
        | Quant::TQ2_0 => return None,
    })
}

/// Whether kernels read a format.
pub(crate) fn is_read(quant: Quant) -> bool {
    decoder(quant).is_some()
}

/// The formats that kernels read.
fn formats() -> impl Iterator<Item = Quant> {
    Quant::ALL.iter().copied().filter(|quant| is_read(*quant))
}

/// The struct of a format's decoder.
fn decoder_type(quant: Quant) -> String {
    quant.name().to_uppercase()
}

/// A module being composed.
struct Composer {
    module: Module,
}

impl Composer {
    fn new(name: &'static str) -> Composer {
        let mut text = String::from("#include <metal_stdlib>\n");
        text += "#include <metal_simdgroup_matrix>\nusing namespace metal;\n\n";
        text += &arguments::declarations();
        let composer = Composer { module: Module { name, text, kernels: Vec::new() } };
        composer.with(&[WORDS])
    }

    fn with(mut self, fragments: &[Fragment]) -> Composer {
        for Fragment { path, text } in fragments {
            self.module.text += &format!("#line 1 \"{path}\"\n{text}\n");
        }
        self
    }

    fn with_decoders(self) -> Composer {
        let decoders = Quant::ALL.iter().filter_map(|quant| decoder(*quant));
        let all: Vec<Fragment> = [FORMAT, SIX_BITS].into_iter().chain(decoders).collect();
        self.with(&all)
    }

    /// A kernel that is no template.
    fn plain(mut self, names: &[&str]) -> Composer {
        self.module.kernels.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }

    /// A template's instance called `name`.
    fn instance(&mut self, template: &str, arguments: &str, name: String) {
        let text = &mut self.module.text;
        let _ = write!(
            text,
            "#line 1 \"instance {name}\"\n\
             typedef decltype({template}<{arguments}>) {name}_type;\n\
             template [[host_name(\"{name}\")]] kernel {name}_type {template}<{arguments}>;\n"
        );
        self.module.kernels.push(name);
    }

    /// An instance for each format and type that it may be staged as.
    fn for_each_staging(mut self, template: &str) -> Composer {
        for quant in formats() {
            for (half, ty) in [(false, "float"), (true, "half")] {
                if !half || may_round(quant) {
                    let arguments = format!("{}, {ty}", decoder_type(quant));
                    self.instance(template, &arguments, many_name(template, quant, half));
                }
            }
        }
        self
    }

    fn for_each_format(
        mut self,
        template: &str,
        rest: &str,
        name: impl Fn(Quant) -> String,
    ) -> Composer {
        for quant in formats() {
            self.instance(template, &format!("{}{rest}", decoder_type(quant)), name(quant));
        }
        self
    }
}

fn elementwise() -> Module {
    let kernels = [
        fragment!("add.metal"),
        fragment!("mul.metal"),
        fragment!("scale.metal"),
        fragment!("unary.metal"),
        fragment!("glu.metal"),
        fragment!("get_rows.metal"),
        fragment!("expert_combine.metal"),
        fragment!("rope.metal"),
    ];
    let composer = Composer::new("elementwise").with(&[ACTIVATION, ROTATE]).with(&kernels);
    let names = ["add", "mul", "scale", "unary", "glu", "get_rows", "expert_combine", "rope"];
    composer.plain(&names).module
}

fn norms() -> Module {
    let kernels =
        [fragment!("rms_norm.metal"), fragment!("add_norm.metal"), fragment!("norm_add.metal")];
    let composer = Composer::new("norms").with(&[REDUCE, NORM]).with(&kernels);
    composer.plain(&["rms_norm", "add_norm", "norm_add"]).module
}

fn embed() -> Module {
    let composer = Composer::new("embed").with_decoders().with(&[fragment!("embed.metal")]);
    composer.for_each_format("embed", "", |quant| format!("embed_{}", quant.name())).module
}

fn matmul_few() -> Module {
    let fragments = [NORM, PRODUCTS, FEW_ROWS, fragment!("matmul.metal")];
    for_each_few(Composer::new("matmul_few").with_decoders().with(&fragments), "matmul_few")
}

fn matmul_mixed() -> Module {
    let fragments = [NORM, PRODUCTS, FEW_ROWS, fragment!("matmul_mixed.metal")];
    let mut composer = Composer::new("matmul_mixed").with_decoders().with(&fragments);
    for pair in MIXED {
        let [first, third] = pair.map(decoder_type);
        composer.instance("matmul_mixed", &format!("{first}, {third}"), mixed_name(pair));
    }
    composer.module
}

fn gate_up() -> Module {
    let fragments = [ACTIVATION, NORM, PRODUCTS, fragment!("gate_up.metal")];
    for_each_few(Composer::new("gate_up").with_decoders().with(&fragments), "gate_up")
}

fn for_each_few(mut composer: Composer, kernel: &str) -> Module {
    for few in FEW {
        let rest = format!(", {}, {}", few.weight_rows, few.rows);
        composer = composer.for_each_format(kernel, &rest, |quant| few_name(kernel, quant, few));
    }
    composer.module
}

fn matmul_many() -> Module {
    let fragments = [TILES, fragment!("matmul_many.metal")];
    let composer = Composer::new("matmul_many").with_decoders().with(&fragments);
    composer.for_each_staging("matmul_many").module
}

fn expert_matmul() -> Module {
    let kernels = [fragment!("expert_matmul.metal"), fragment!("expert_gate_up.metal")];
    let composer = Composer::new("expert_matmul").with_decoders();
    let composer = composer.with(&[ACTIVATION, NORM, PRODUCTS]).with(&kernels);
    let name = |kernel: &'static str| move |quant: Quant| format!("{kernel}_{}", quant.name());
    let composer = composer.for_each_format("expert_matmul", ", 4", name("expert_matmul"));
    composer.for_each_format("expert_gate_up", ", 4", name("expert_gate_up")).module
}

fn expert_matmul_many() -> Module {
    let fragments = [TILES, fragment!("expert_matmul_many.metal")];
    let composer = Composer::new("expert_matmul_many").with_decoders().with(&fragments);
    let composer = composer.plain(&["expert_matmul_lists"]);
    composer.for_each_staging("expert_matmul_many").module
}

/// The struct of a cache type.
fn cache_type(kv: KvType) -> &'static str {
    match kv {
        KvType::F32 => "CacheF32",
        KvType::F16 => "CacheF16",
        KvType::BF16 => "CacheBF16",
        KvType::Q8_0 => "CacheQ8_0",
    }
}

fn kv_store() -> Module {
    let kernels = [fragment!("kv_store.metal"), fragment!("qkv.metal")];
    let composer = Composer::new("kv_store").with(&[CACHE, STORE, ROTATE]).with(&kernels);
    composer.plain(&["kv_store", "qkv_finish"]).module
}

fn attention() -> Module {
    let fragments = [ACTIVATION, CACHE, ONLINE];
    let kernels = [fragment!("attention.metal"), fragment!("attention_combine.metal")];
    let composer = Composer::new("attention").with(&fragments).with(&kernels);
    let mut composer = composer.plain(&["attention_combine"]);
    for &key in KvType::ALL {
        for &value in KvType::ALL {
            for columns in COLUMNS {
                let types = format!("{}, {}, {columns}", cache_type(key), cache_type(value));
                composer.instance("attention", &types, attention_name(key, value, columns));
            }
        }
    }
    composer.module
}

fn attention_prefill() -> Module {
    let fragments = [ACTIVATION, CACHE, ONLINE, fragment!("attention_prefill.metal")];
    let mut composer = Composer::new("attention_prefill").with(&fragments);
    for parts in PARTS {
        for (half, ty) in [(true, "half"), (false, "float")] {
            let arguments = format!("{ty}, {parts}");
            let name = prefill_name(half, parts);
            composer.instance("attention_prefill", &arguments, name);
        }
    }
    composer.module
}

fn select() -> Module {
    let kernels = [
        fragment!("softmax.metal"),
        fragment!("argmax.metal"),
        fragment!("top_k.metal"),
        fragment!("top_k_runs.metal"),
        fragment!("route.metal"),
    ];
    let composer = Composer::new("select").with(&[REDUCE, BEST]).with(&kernels);
    let names = ["softmax", "argmax", "top_k", "top_k_runs", "top_k_merge", "route"];
    composer.plain(&names).module
}

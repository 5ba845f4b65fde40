//! Every barrier is needed, and every word of it: a kernel with a weaker one is caught.
//!
//! Each barrier of each module is taken away, is left without its memory, and is narrowed from the
//! threadgroup to the simdgroup. A tenth of that runs here, another one whenever the kernels
//! change; all of it by `cargo xtask mutate`, which prints the table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use metal_sim::{Compiler, Library, Mode, Source};
use minfer_backend_metal::{Module, Staging, modules};
use minfer_conformance::{Case, Seeded, in_bucket, ops, run};

use crate::device::{Run, SimDevice};
use crate::kernels::simulator_is_here;

/// Where a module's barriers are met.
struct Suite {
    module: &'static str,
    /// Of its instances, those with this in their names.
    keep: &'static str,
    /// What names of cases begin with.
    cases: &'static [&'static str],
    /// Rows that the cases' steps are planned for at least.
    rows: usize,
}

const SUITES: [Suite; 7] = [
    Suite { module: "norms", keep: "", cases: &["rms_norm", "add_norm", "norm_add"], rows: 16 },
    Suite { module: "select", keep: "", cases: &["softmax[3,1", "top_k[3", "route[3"], rows: 16 },
    Suite {
        module: "matmul_many",
        keep: "f16_half",
        cases: &["matmul.f16.f32[9,33,", "matmul.f16.f32[9,65,"],
        rows: 16,
    },
    Suite {
        module: "expert_matmul_many",
        keep: "f16_half",
        cases: &["expert_matmul.f16.f32[T=17"],
        rows: 16,
    },
    // The one kernel that a larger bucket would do without.
    Suite {
        module: "attention",
        keep: "f32_f32_64",
        cases: &["attention.decode[[(511", "attention.decode[[(31", "attention.unsplit"],
        rows: 1,
    },
    Suite {
        module: "attention_prefill",
        keep: "float_128",
        cases: &["attention.head_dim[[(33, 3)],4/2x128"],
        rows: 16,
    },
    Suite { module: "kv_store", keep: "", cases: &["qkv.f32.f32[1,", "qkv.f32.f32[9,"], rows: 16 },
];

impl Suite {
    /// The module's text with the kept instances alone.
    fn text(&self, modules: &[Module]) -> String {
        let module = modules.iter().find(|module| module.name == self.module).expect("a module");
        let mut parts = module.text.split("#line 1 \"instance ");
        let shared = parts.next().unwrap_or_default().to_owned();
        let name = |part: &&str| part.lines().next().is_some_and(|line| line.contains(self.keep));
        parts.filter(name).fold(shared, |text, part| text + "#line 1 \"instance " + part)
    }

    fn cases(&self) -> Vec<Case> {
        let wanted = |case: &Case| self.cases.iter().any(|start| case.name.starts_with(start));
        let cases = ops::all().into_iter().filter(wanted);
        cases.map(|case| in_bucket(case, self.rows)).collect()
    }

    fn compile(&self, text: String) -> Library {
        let source = Source { name: format!("{}.metal", self.module), text };
        let compiler = Compiler::find().expect("is here");
        compiler.compile(&source, Mode::Checked).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What some case reports of a changed module in a checked run, if any does.
    fn report(&self, cases: &[Case], text: String) -> Option<String> {
        let library = self.compile(text);
        let how = Run { checked: true, seed: 3 };
        let staging = if self.keep.contains("half") { Staging::Half } else { Staging::Full };
        cases.iter().find_map(|case| {
            let device = SimDevice::new(how, staging);
            let outcome = run(case, &mut device.with_changed(library.clone()));
            outcome.err().map(|error| error.to_string())
        })
    }
}

/// A barrier in a module's text.
struct Barrier {
    /// The call, without its semicolon.
    bytes: std::ops::Range<usize>,
    call: String,
    /// File and line.
    place: String,
}

/// The barriers of a text, by what its `#line` directives say.
fn barriers(text: &str) -> Vec<Barrier> {
    let (mut found, mut start) = (Vec::new(), 0);
    let (mut file, mut number) = (String::new(), 0);
    for line in text.split_inclusive('\n') {
        number += 1;
        if let Some(name) = line.strip_prefix("#line 1 ") {
            (file, number) = (name.trim().trim_matches('"').to_owned(), 0);
        }
        let code = line.split("//").next().unwrap_or_default();
        for name in ["threadgroup_barrier(", "simdgroup_barrier("] {
            for (at, _) in code.match_indices(name) {
                let length = code[at..].find(';').expect("a statement of one line");
                let bytes = start + at..start + at + length;
                let (call, place) = (text[bytes.clone()].to_owned(), format!("{file}:{number}"));
                found.push(Barrier { bytes, call, place });
            }
        }
        start += line.len();
    }
    found
}

/// The weaker forms of a barrier: what they are called, and their text.
fn weaker(call: &str) -> Vec<(&'static str, String)> {
    let mut forms = vec![("none", String::new())];
    let (name, flags) = call.split_once('(').expect("a call");
    forms.push(("mem_none", format!("{name}(mem_flags::mem_none)")));
    if flags.contains("mem_device_and_threadgroup") {
        for one in ["mem_device", "mem_threadgroup"] {
            forms.push((one, format!("{name}(mem_flags::{one})")));
        }
    }
    if name == "threadgroup_barrier" {
        forms.push(("simdgroup", format!("simdgroup_barrier({flags}")));
    }
    forms
}

/// Which kind of report a text begins with.
fn kind(report: &str) -> String {
    let mut words = report.split(": ");
    let before =
        words.position(|word| word.ends_with(char::is_numeric) && word.contains(".metal:"));
    before.and_then(|_| words.next()).unwrap_or(report).to_owned()
}

/// What is to run instead of a tenth: all, or the barriers of files with this in their names.
fn wanted() -> Option<String> {
    std::env::var("MINFER_MUTATE").ok().filter(|files| !files.is_empty())
}

/// A module with one barrier weakened.
struct Mutant<'a> {
    suite: &'a Suite,
    text: String,
}

/// All mutants, by the place of the barrier and its form. A barrier of a fragment is in several
/// modules, of which some may never come to it.
fn mutants(modules: &[Module]) -> BTreeMap<(String, &'static str), Vec<Mutant<'static>>> {
    let mut all: BTreeMap<_, Vec<Mutant<'_>>> = BTreeMap::new();
    for suite in &SUITES {
        let text = suite.text(modules);
        for Barrier { bytes, call, place } in barriers(&text) {
            for (form, weaker) in weaker(&call) {
                let text = format!("{}{weaker}{}", &text[..bytes.start], &text[bytes.end..]);
                all.entry((place.clone(), form)).or_default().push(Mutant { suite, text });
            }
        }
    }
    all
}

#[test]
fn every_module_with_barriers_has_a_suite() {
    for module in modules() {
        let covered = SUITES.iter().any(|suite| suite.module == module.name);
        assert!(covered || barriers(&module.text).is_empty(), "{}", module.name);
    }
}

#[test]
fn a_weaker_barrier_is_caught() {
    if !simulator_is_here() {
        return;
    }
    let modules = modules();
    let sources: String = modules.iter().map(|module| module.text.as_str()).collect();
    let (mut chance, wanted) = (Seeded::named(&sources), wanted());
    let mut mutants = mutants(&modules);
    mutants.retain(|(place, _), _| match wanted.as_deref() {
        None => chance.bits().is_multiple_of(10),
        Some(files) => files == "all" || place.contains(files),
    });
    assert!(!mutants.is_empty(), "no barrier was tried");
    let (mut table, mut missed, mut sound) = (String::new(), Vec::new(), BTreeSet::new());
    for ((place, form), mutants) in &mutants {
        let caught = mutants.iter().find_map(|Mutant { suite, text }| {
            let cases = suite.cases();
            assert!(!cases.is_empty(), "no case is called {:?}", suite.cases);
            if sound.insert(suite.module) {
                let report = suite.report(&cases, suite.text(&modules));
                assert_eq!(report, None, "{} as it is", suite.module);
            }
            let report = suite.report(&cases, text.clone())?;
            Some(format!("{} ({})", kind(&report), suite.module))
        });
        table += &format!("{place:<32} {form:<16} {}\n", caught.as_deref().unwrap_or("NOTHING"));
        missed.extend(caught.is_none().then_some((place, form)));
    }
    if wanted.is_some() {
        std::io::stdout().write_all(table.as_bytes()).expect("a table");
    }
    assert!(missed.is_empty(), "nothing needs these: {missed:?}");
}

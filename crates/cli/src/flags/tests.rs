//! The table against itself, and what is made from it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;

use super::value::{Value, boolean};
use super::{Kind, command_line, config_file, table};
use crate::command::COMMANDS;

/// Every way to write a flag on the command line.
fn spellings(flag: &super::Flag) -> Vec<String> {
    let mut all = vec![format!("--{}", flag.name)];
    all.extend(flag.aliases.iter().map(|name| format!("--{name}")));
    all.extend(flag.dashed.iter().map(|name| format!("-{name}")));
    all.extend(flag.short.map(|letter| format!("-{letter}")));
    if let Kind::Switch(no) = flag.kind {
        all.push(format!("--{no}"));
    }
    all
}

#[test]
fn rows_have_one_name_and_say_what_they_are() {
    let mut names = BTreeSet::new();
    for flag in table::rows() {
        let name = flag.name;
        assert!(names.insert(name), "{name} is there twice");
        assert!(!flag.verbs.is_empty(), "{name} belongs to no command");
        assert!(!flag.help.is_empty() && flag.help.len() <= 100, "{name}: {}", flag.help.len());
        assert!(!flag.help.ends_with('.'), "{name}: a help line is no sentence");
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(name.chars().all(plain), "{name}");
        if let Kind::Switch(no) = flag.kind {
            assert!(no.starts_with("no-"), "{name}: {no}");
        }
        assert!(flag.dashed.iter().all(|dashed| dashed.len() > 1), "{name}: use `short`");
        assert!(flag.llama_env.is_none_or(|env| env.starts_with("LLAMA_ARG_")), "{name}");
    }
    let llama: Vec<&str> = table::rows().filter_map(|flag| flag.llama_env).collect();
    assert_eq!(llama.iter().collect::<BTreeSet<_>>().len(), llama.len());
}

#[test]
fn no_command_has_a_spelling_twice() {
    for row in COMMANDS {
        let mut seen: HashMap<String, &str> = HashMap::new();
        for flag in table::rows_of(row.verb) {
            for spelling in spellings(flag) {
                let other = seen.insert(spelling.clone(), flag.name);
                assert_eq!(other, None, "{}: {spelling} is {} too", row.name, flag.name);
            }
        }
    }
    command_line::build().debug_assert();
}

#[test]
fn every_verb_has_one_command() {
    let names: BTreeSet<&str> = COMMANDS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), COMMANDS.len());
    for flag in table::rows() {
        for verb in flag.verbs {
            assert_eq!(COMMANDS.iter().filter(|row| row.verb == *verb).count(), 1, "{verb:?}");
        }
    }
}

#[test]
fn defaults_are_values_of_their_rows() {
    for flag in table::rows().filter(|flag| !flag.default.is_empty()) {
        let value = flag.parse(&[flag.default.to_owned()]);
        assert!(value.is_ok(), "{}: {value:?}", flag.name);
    }
    let switches = table::rows().filter(|flag| matches!(flag.kind, Kind::Switch(_)));
    assert!(switches.into_iter().all(|flag| boolean(flag.default).is_some()));
}

#[test]
fn defaults_of_sampling_are_those_of_the_sampler() {
    let sampler = minfer_sample::Params::default();
    let dry = &sampler.dry;
    let number = |flag: &super::Flag| flag.default.parse::<f32>().unwrap();
    for (flag, expected) in [
        (&table::TEMP, sampler.temperature),
        (&table::TOP_K, sampler.top_k as f32),
        (&table::TOP_P, sampler.top_p),
        (&table::MIN_P, sampler.min_p),
        (&table::TYPICAL, sampler.typical_p),
        (&table::TOP_NSIGMA, sampler.top_n_sigma),
        (&table::XTC_PROBABILITY, sampler.xtc.probability),
        (&table::XTC_THRESHOLD, sampler.xtc.threshold),
        (&table::REPEAT_LAST_N, sampler.penalties.last_n as f32),
        (&table::REPEAT_PENALTY, sampler.penalties.repeat),
        (&table::PRESENCE_PENALTY, sampler.penalties.presence),
        (&table::FREQUENCY_PENALTY, sampler.penalties.frequency),
        (&table::DRY_MULTIPLIER, dry.multiplier),
        (&table::DRY_BASE, dry.base),
        (&table::DRY_ALLOWED_LENGTH, dry.allowed_length as f32),
        (&table::DRY_PENALTY_LAST_N, dry.last_n as f32),
        (&table::DYNATEMP_RANGE, sampler.dynamic_range),
        (&table::DYNATEMP_EXP, sampler.dynamic_exponent),
        (&table::MIROSTAT_ENT, minfer_sample::Mirostat::TAU),
        (&table::MIROSTAT_LR, minfer_sample::Mirostat::ETA),
    ] {
        assert_eq!(number(flag), expected, "{}", flag.name);
    }
}

#[test]
fn devices_of_the_engine_are_words_of_the_flag() {
    let Kind::Choice(words) = table::DEVICE_NAME.kind else { panic!("a choice") };
    let engine: Vec<&str> =
        minfer_engine::DeviceChoice::all().map(|choice| choice.name()).collect();
    assert_eq!(words, engine);
    let (Kind::Choice(key), Kind::Choice(value)) =
        (table::CACHE_TYPE_K.kind, table::CACHE_TYPE_V.kind)
    else {
        panic!("choices")
    };
    let types: Vec<&str> = minfer_engine::KvType::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!((key, value), (&types[..], &types[..]));
}

#[test]
fn values_mean_the_same_in_any_case_and_out_of_range_is_refused() {
    for (text, expected) in [("ON", Some(true)), ("No", Some(false)), ("2", None), ("", None)] {
        assert_eq!(boolean(text), expected, "{text}");
    }
    let parse = |flag: &super::Flag, text: &str| flag.parse(&[text.to_owned()]);
    assert_eq!(parse(&table::CACHE_TYPE_K, "Q8_0"), Ok(Value::Text("q8_0".into())));
    for (flag, text) in [
        (&table::CACHE_TYPE_K, "q4_0"),
        (&table::TOP_P, "1.5"),
        (&table::TOP_P, "nan"),
        (&table::TEMP, "inf"),
        (&table::TOP_K, "-1"),
        (&table::PREDICT, "ten"),
        (&table::MMAP, "maybe"),
    ] {
        assert!(parse(flag, text).is_err(), "{} {text}", flag.name);
    }
}

fn translated(line: &str) -> Vec<String> {
    let words = line.split(' ').map(OsString::from);
    command_line::translate(words).into_iter().map(|word| word.into_string().unwrap()).collect()
}

#[test]
fn names_of_several_letters_become_long_flags() {
    for (line, expected) in [
        ("minfer run -ngl 3 -st hi", "minfer run --gpu-layers 3 -st hi"),
        ("minfer chat -st -sys Hi", "minfer chat --single-turn --system-prompt Hi"),
        ("minfer run -ctk=q8_0 -ctv f32", "minfer run --cache-type-k=q8_0 --cache-type-v f32"),
        ("minfer run -p -ngl -ub 4", "minfer run -p -ngl --ubatch-size 4"),
        ("minfer run --prompt -hf", "minfer run --prompt -hf"),
        ("minfer run -- -hf", "minfer run -- -hf"),
        ("minfer -hf", "minfer -hf"),
        ("minfer synth -ngl", "minfer synth -ngl"),
    ] {
        assert_eq!(translated(line).join(" "), expected, "{line}");
    }
}

#[test]
fn the_configuration_file_is_lines_of_keys_and_values() {
    let text = "# a comment\n\n threads = 4\ntop_k=20\nmodel = \"a b\"\nstop = [\"x\", \"y\"]\n\
                mmap = false\ndevice = cpu\n";
    let lines = config_file::parse(text).unwrap();
    let found: Vec<(&str, Vec<String>, usize)> =
        lines.into_iter().map(|line| (line.flag.name, line.values, line.number)).collect();
    let expect = |name, values: &[&str], number| {
        (name, values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>(), number)
    };
    assert_eq!(
        found,
        [
            expect("threads", &["4"], 3),
            expect("top-k", &["20"], 4),
            expect("model", &["a b"], 5),
            expect("stop", &["x", "y"], 6),
            expect("mmap", &["false"], 7),
            expect("device", &["cpu"], 8),
        ]
    );
    for (text, message) in [
        ("threads 4", "line 1: expected `key = value`"),
        ("\nthread = 4", "line 2: unknown key `thread`"),
        ("model = \"a", "line 1: `\"a` is not a whole text"),
        ("stop = [[1]]", "line 1: expected a text"),
        ("[run]", "line 1: expected `key = value`"),
    ] {
        let error = config_file::parse(text).unwrap_err();
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
}

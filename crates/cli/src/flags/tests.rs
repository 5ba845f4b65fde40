//! The table against itself, and what is made from it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;

use minfer_engine::DeviceChoice;

use super::value::{Value, boolean};
use super::{Kind, command_line, config_file, nearest, table};
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
        // Help shows the flag that says no where a switch is on, so that one needs words.
        let shows_no = matches!(flag.kind, Kind::Switch(_)) && flag.default == "true";
        assert_eq!(!flag.off.is_empty(), shows_no, "{name}");
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
    let engine: Vec<&str> = DeviceChoice::all().map(|choice| choice.name()).collect();
    assert_eq!(words, engine);
    let (Kind::Choice(key), Kind::Choice(value)) =
        (table::CACHE_TYPE_K.kind, table::CACHE_TYPE_V.kind)
    else {
        panic!("choices")
    };
    // What help says of this version.
    assert!(table::DEVICE_NAME.more.contains("cuda is not in this version"));
    let there = minfer_engine::available(1);
    assert!(!there.iter().any(|device| device.choice == DeviceChoice::Cuda), "{there:?}");
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
        (&table::TEMP, "-0.1"),
        (&table::MIN_P, "-0.1"),
        (&table::TYPICAL, "1.1"),
        (&table::XTC_PROBABILITY, "2"),
        (&table::REPEAT_PENALTY, "0"),
        (&table::REPEAT_PENALTY, "-1"),
        (&table::REPEAT_LAST_N, "-2"),
        (&table::DRY_MULTIPLIER, "-1"),
        (&table::DYNATEMP_RANGE, "-1"),
        (&table::MIROSTAT, "3"),
        (&table::PRESENCE_PENALTY, "1e39"),
        (&table::TOP_K, "-1"),
        (&table::PREDICT, "ten"),
        (&table::MMAP, "maybe"),
    ] {
        let error = parse(flag, text).unwrap_err();
        assert!(
            error.starts_with("expected ") && error.len() < 60,
            "{} {text}: {error}",
            flag.name
        );
    }
    for (flag, expected) in [
        (&table::TEMP, "expected a number of at least 0"),
        (&table::TOP_P, "expected a number from 0 to 1"),
        (&table::REPEAT_PENALTY, "expected a number above 0"),
        (&table::FREQUENCY_PENALTY, "expected a number"),
        (&table::SEED, "expected an integer of at least -1"),
        (&table::MIROSTAT, "expected an integer from 0 to 2"),
    ] {
        assert_eq!(parse(flag, "hot").unwrap_err(), expected, "{}", flag.name);
    }
    // What llama.cpp gives a meaning to.
    for (flag, text) in [
        (&table::TOP_K, "0"),
        (&table::SEED, "-1"),
        (&table::TOP_NSIGMA, "-3"),
        (&table::REPEAT_LAST_N, "-1"),
        (&table::PRESENCE_PENALTY, "-1"),
        (&table::DRY_BASE, "0.5"),
        (&table::PREDICT, "-1"),
    ] {
        assert!(parse(flag, text).is_ok(), "{} {text}", flag.name);
    }
}

#[test]
fn values_are_read_as_they_are_written() {
    let words = ["cpu", "a b", "a # b", "#", "\"q\"", "", "null", "1", "true", "~/é", "15043-1"];
    let list = words.map(str::to_owned).to_vec();
    for text in words {
        let value = Value::Text(text.into());
        let contents = config_file::parse(&format!("prompt = {}  # why", value.written()));
        assert_eq!(contents.faults, [], "{text}");
        assert_eq!(contents.lines[0].values, [text]);
    }
    let contents = config_file::parse(&format!("stop = {}", Value::List(list.clone()).written()));
    assert_eq!(contents.lines[0].values, list);
}

#[test]
fn mistyped_keys_lead_to_the_nearest_one() {
    for (word, name) in [
        ("thread", Some("threads")),
        ("tpo-k", Some("top-k")),
        ("tmep", Some("temp")),
        ("ngl", Some("gpu-layers")),
        ("n-predict", Some("predict")),
        ("context-size", Some("ctx-size")),
        ("foo", None),
        ("", None),
    ] {
        assert_eq!(nearest::key(word), name, "{word}");
    }
}

fn translated(words: &[&str]) -> Result<Vec<String>, String> {
    let line = command_line::translate(words.iter().map(OsString::from));
    let words = line.map_err(|error| error.to_string())?.arguments.into_iter();
    Ok(words.map(|word| word.into_string().unwrap()).collect())
}

#[test]
fn names_of_several_letters_become_long_flags() {
    for (line, expected) in [
        ("minfer run -ngl 3 -st hi", "minfer run --gpu-layers 3 hi"),
        ("minfer chat -st -sys Hi", "minfer chat --single-turn --system-prompt Hi"),
        ("minfer run -ctk=q8_0 -ctv f32", "minfer run --cache-type-k=q8_0 --cache-type-v f32"),
        ("minfer run -p -ngl -ub 4", "minfer run -p -ngl --ubatch-size 4"),
        ("minfer run --prompt -hf", "minfer run --prompt -hf"),
        ("minfer run -- -hf", "minfer run -- -hf"),
        ("minfer -hf", "minfer -hf"),
        ("minfer run -fa on -fa hi --jinja", "minfer run hi"),
        ("minfer run -p -fa --flash-attn=off", "minfer run -p -fa"),
        ("minfer bench -t 1,2 -pg 8,4", "minfer bench --threads-list 1,2 --prompt-gen 8,4"),
        ("minfer bench --threads=1,2 -t 3", "minfer bench --threads-list=1,2 -t 3"),
        ("minfer run -t 1,2", "minfer run -t 1,2"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(translated(&words).unwrap().join(" "), expected, "{line}");
    }
    for (line, parts) in [
        ("minfer synth -ngl 3", ["`synth`", "-ngl (--gpu-layers)"]),
        ("minfer run -i", ["-i: ", "`minfer chat`"]),
        ("minfer chat --raw", ["--raw: ", "`minfer run --raw`"]),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let error = translated(&words).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{line}: {error}");
    }
}

#[test]
fn texts_that_begin_with_a_dash_are_no_flags() {
    for (words, expected) in [
        (&["run", "- a list", "-n", "4", "b"][..], &["run", "-n", "4", "--", "- a list", "b"][..]),
        (&["run", "--temp is what?"], &["run", "--", "--temp is what?"]),
        (&["score", "-5 degrees", "--", "-x"], &["score", "--", "-5 degrees", "-x"]),
        (&["run", "-pHello there"], &["run", "-pHello there"]),
        (&["run", "--prompt=a b"], &["run", "--prompt=a b"]),
        (&["run", "-p", "- a"], &["run", "-p", "- a"]),
        (&["bench", "- a"], &["bench", "- a"]),
    ] {
        let found = translated(&[&["minfer"], words].concat()).unwrap();
        assert_eq!(found[1..], *expected, "{words:?}");
    }
}

#[test]
fn the_configuration_file_is_lines_of_keys_and_values() {
    let text = "# a comment\n\n threads = 4\ntop_k=20\nmodel = \"a b\"\nstop = [\"x\", \"y\"]\n\
                mmap = false # not here\ndevice = cpu # nor there\nseed = 3 # three\n\
                prompt = \"a # b\" # c\nregex = a#b\nmax_tokens = 4\n";
    let contents = config_file::parse(text);
    assert_eq!(contents.faults, []);
    let found: Vec<(&str, Vec<String>, usize)> =
        contents.lines.into_iter().map(|line| (line.flag.name, line.values, line.number)).collect();
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
            expect("seed", &["3"], 9),
            expect("prompt", &["a # b"], 10),
            expect("regex", &["a#b"], 11),
            expect("predict", &["4"], 12),
        ]
    );
    for (text, message) in [
        ("top-k = 1\nthreads 4", "expected `key = value`"),
        ("top-k = 1\nthread = 4", "unknown key `thread`: did you mean `threads`?"),
        ("top-k = 1\nmodel = \"a", "`\"a` is not a whole text"),
        ("top-k = 1\nstop = [[1]]", "expected a text"),
        ("top-k = 1\n[run]", "expected `key = value`, found `[run]`: a configuration file is"),
        ("top-k = 1\ntop_k = 2", "`top-k` is there twice, first in line 1"),
        ("predict = 1\nn-predict = 2", "`predict` is there twice"),
        ("top-k = 1\nno-mmap = true", "unknown key `no-mmap`: write `mmap = false`"),
        ("top-k = 1\nprompt =", "expected a value, found none"),
        ("top-k = 1\nprompt = # no", "expected a value, found none"),
        ("top-k = 1\nprompt = \"a\" b", "`\"a\" b` is not a whole text"),
    ] {
        let contents = config_file::parse(text);
        let [fault] = contents.faults.as_slice() else { panic!("{text:?}") };
        assert_eq!((fault.number, contents.lines.len()), (2, 1), "{text:?}");
        assert!(fault.text.starts_with(message), "{text:?}: {}", fault.text);
    }
}

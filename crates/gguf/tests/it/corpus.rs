//! Malformed files, each with what must become of it: loaded, refused with a certain error, or
//! loaded here for a later step to refuse. Every file is loaded in a child process, in at most one
//! second and 64 MiB above what the process has anyway.

use std::time::Duration;

use crate::child;
use crate::raw::*;
use Expected::{Later, Loads, Refused};

/// What must become of a file.
#[derive(Debug, Clone, Copy)]
pub enum Expected {
    Loads,
    /// The error's variant.
    Refused(&'static str),
    /// This crate loads it; the named crate must refuse it.
    Later(&'static str),
}

struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    expected: Expected,
    /// FNV-1a of the file of this name that the recipe was first written down as.
    digest: Option<u64>,
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The recipes that peers' faults gave, by their public names.
fn recipes() -> Vec<Case> {
    [header_recipes(), metadata_recipes(), tensor_recipes(), model_recipes()]
        .into_iter()
        .flatten()
        .collect()
}

fn recipe(name: &'static str, digest: u64, expected: Expected, bytes: Vec<u8>) -> Case {
    Case { name, bytes, expected, digest: Some(digest) }
}

fn variant(name: &'static str, expected: Expected, bytes: Vec<u8>) -> Case {
    Case { name, bytes, expected, digest: None }
}

fn header_recipes() -> Vec<Case> {
    let full = Raw::base().build();
    vec![
        recipe("G00_base", 0x8288ca57d4f71282, Loads, full.clone()),
        recipe("G01_empty", 0xcbf29ce484222325, Refused("Truncated"), Vec::new()),
        recipe("G02_gguf4", 0x69ea617d4935d0bc, Refused("Truncated"), b"GGUF".to_vec()),
        recipe("G04_ver0", 0xa4b30ebf372b897c, Refused("Version"), header(0, 0, 0, &[])),
        recipe("G05_ver4", 0x1c001f36964da638, Refused("Version"), header(4, 0, 0, &[])),
        recipe("G07_nt_max", 0x44c5d57ac8b96567, Refused("Limit"), header(3, u64::MAX, 0, &[])),
        recipe("G08_nk_2p60", 0x4b393265afd1d8bf, Refused("Limit"), header(3, 0, 1 << 60, &[])),
        recipe("G09_nk1_eof", 0x2c3e7b5ca4e2a9ce, Refused("Truncated"), header(3, 0, 1, &[])),
        recipe(
            "G10_keylen_max",
            0x04a1ca8bdc4536c2,
            Refused("Limit"),
            header(3, 0, 1, &[&u64::MAX.to_le_bytes()[..], b"abcd"].concat()),
        ),
        recipe(
            "G43_trunc_half",
            0xaf82ec16b77b4a55,
            Refused("TensorRange"),
            full[..full.len() / 2].to_vec(),
        ),
        recipe("G44_trailing_ok", 0xc75f8e6b93971282, Loads, [full, vec![0xaa; 1 << 20]].concat()),
    ]
}

fn metadata_recipes() -> Vec<Case> {
    let keyed = |type_id, value: Vec<u8>| one_key("k", type_id, value);
    let zeros = |count| vec![0u8; count];
    vec![
        recipe(
            "G12_key_65536",
            0x846003adf0de8f92,
            Refused("Limit"),
            one_key(vec![b'k'; 65_536], U32, 1u32.to_le_bytes()),
        ),
        recipe("G14_vtype13", 0xb9a2d51a34b9f221, Refused("ValueType"), keyed(13, zeros(4))),
        recipe(
            "G15_strlen_2g",
            0x66b370e3157b59f4,
            Refused("Limit"),
            keyed(STRING, [&(1u64 << 31).to_le_bytes()[..], b"x"].concat()),
        ),
        recipe(
            "G17_arrcnt_2p61",
            0xd5cdf99282355d8f,
            Refused("Limit"),
            keyed(ARRAY, array(U64, 1 << 61, &zeros(64))),
        ),
        recipe(
            "G18_arrtype255",
            0x4da50a5183e7e97a,
            Refused("ValueType"),
            keyed(ARRAY, array(255, 1 << 60, &zeros(8))),
        ),
        recipe(
            "G19_arrstr_4g",
            0xc0325ad0f67c663c,
            Refused("Limit"),
            keyed(ARRAY, array(STRING, 1 << 32, &zeros(64))),
        ),
        recipe(
            "G21_dupkey",
            0xc4c2b8614d63e2c4,
            Refused("DuplicateKey"),
            Raw::base().append(entry("llama.block_count", U32, 2u32.to_le_bytes())).build(),
        ),
        recipe(
            "G22_align0",
            0x7f3de046742613ae,
            Refused("Alignment"),
            one_key("general.alignment", U32, 0u32.to_le_bytes()),
        ),
        recipe(
            "G24_align2p31",
            0xf9dbc9c9bfb1bd62,
            Refused("Alignment"),
            Raw::base().set(entry("general.alignment", U32, (1u32 << 31).to_le_bytes())).build(),
        ),
        recipe(
            "G25_align_i32",
            0xa0d7e2f5598bd24f,
            Refused("WrongType"),
            Raw::base().set(entry("general.alignment", I32, 32u32.to_le_bytes())).build(),
        ),
    ]
}

fn tensor_recipes() -> Vec<Case> {
    let first = |change: fn(&mut Row)| Raw::base().row(0, change).build();
    let last = |change: fn(&mut Row)| Raw::base().last_row(change).build();
    vec![
        recipe("G27_tname64", 0x7e6cb1afcda9c24b, Refused("Limit"), {
            first(|row| row.name = vec![b'n'; 64])
        }),
        recipe("G28_dupname", 0xfcc31ded819a2ec4, Refused("DuplicateTensor"), {
            Raw::base().row(3, |row| row.name = b"blk.0.attn_q.weight".to_vec()).build()
        }),
        recipe("G30_ndims_max", 0x9217a6daed2eb418, Refused("Limit"), {
            first(|row| row.rank = u32::MAX)
        }),
        recipe("G31_dim0", 0x01304852ba62493f, Later("models"), last(|row| row.dims[1] = 0)),
        recipe("G33_dim_neg", 0xf77bf8e1fbd69dbf, Refused("Dimensions"), {
            last(|row| row.dims[1] = 1 << 63)
        }),
        recipe("G35_blk33", 0x2ee1bb93c3c96cd5, Refused("RowLength"), {
            last(|row| (row.dims[0], row.type_id) = (33, 8))
        }),
        recipe("G37_type_max", 0x8a9f0bbaee08c476, Refused("TensorType"), {
            last(|row| row.type_id = u32::MAX)
        }),
        recipe("G38_off_eof", 0x93c96cdd84aaf802, Refused("TensorOffset"), {
            last(|row| row.offset = DATA_BYTES + (1 << 20))
        }),
        recipe("G39_off_unal", 0xe2e5545212b30c39, Refused("TensorOffset"), {
            last(|row| row.offset += 1)
        }),
        recipe("G41_off_wrap", 0x4269171720573781, Refused("TensorOffset"), {
            last(|row| row.offset = 0u64.wrapping_sub(32))
        }),
    ]
}

fn model_recipes() -> Vec<Case> {
    let set =
        |key: &str, type_id, value: &[u8]| Raw::base().set(entry(key, type_id, value)).build();
    let number = |key: &str, value: u32| set(key, U32, &value.to_le_bytes());
    let token = |id: usize, token: &[u8]| {
        let mut tokens = vocabulary();
        tokens[id] = token.to_vec();
        Raw::base().set(tokens_entry(&tokens)).build()
    };
    let loops = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}\
                 {% endfor %}{% endfor %}{% endfor %}";
    vec![
        recipe("G46_scores_u8", 0x8d8a50180aa636d3, Later("tokenizer"), {
            set("tokenizer.ggml.scores", ARRAY, &array(U8, 288, &[1; 288]))
        }),
        recipe("G48_bos_oob", 0x70479bc569833150, Later("tokenizer"), {
            number("tokenizer.ggml.bos_token_id", 288)
        }),
        recipe("G49_duptok_ok", 0x847500475b6b75ff, Loads, token(20, b"<0x12>")),
        recipe("G50_notokens", 0x448567b313cd976d, Later("tokenizer"), {
            Raw::base().without("tokenizer.ggml.tokens").build()
        }),
        recipe("G52_tok_badutf8_ok", 0x8ebb63e1475d7160, Loads, token(270, b"\xff\xfe")),
        recipe("G53_head0", 0x69bbea6c28c11f5f, Later("models"), {
            number("llama.attention.head_count", 0)
        }),
        recipe("G55_blocks_max", 0x4d6828e977730315, Later("models"), {
            number("llama.block_count", u32::MAX)
        }),
        recipe("G56_blocks2", 0x8a715f9fdb3a9717, Later("models"), number("llama.block_count", 2)),
        recipe("G58_eps_nan", 0x9c3d38e2ac83e94a, Later("models"), {
            set("llama.attention.layer_norm_rms_epsilon", F32, &[0, 0, 0xc0, 0x7f])
        }),
        recipe("G60_tmpl_loop", 0x2d1091f733af8954, Later("chat"), {
            set("tokenizer.chat_template", STRING, &text(loops))
        }),
        recipe("G62_split2", 0x300046cb230476c7, Refused("SplitName"), in_split(0, 2, 24)),
        recipe("G63_splitno1", 0x5caf6724bf613eb6, Refused("SplitName"), in_split(1, 2, 12)),
    ]
}

/// The base model, said to be part `number` of `count` with `tensors` tensors in all.
fn in_split(number: u16, count: u16, tensors: u32) -> Vec<u8> {
    Raw::base()
        .append(entry("split.no", U16, number.to_le_bytes()))
        .append(entry("split.count", U16, count.to_le_bytes()))
        .append(entry("split.tensors.count", I32, tensors.to_le_bytes()))
        .build()
}

/// Further files of the same kinds.
fn variants() -> Vec<Case> {
    let kinds = [head_variants(), array_variants(), alignment_variants(), tensor_variants()];
    kinds.into_iter().flatten().collect()
}

fn head_variants() -> Vec<Case> {
    let base = Raw::base().build();
    let big_endian = |version: u32| {
        let counts = [0u8; 16];
        [b"GGUF", &version.to_be_bytes()[..], &counts].concat()
    };
    let keys = |count: u32| {
        let key = |index: u32| entry(format!("k{index}"), U32, index.to_le_bytes());
        let mut raw = Raw::of_rows(Vec::new(), Vec::new());
        raw.entries = (0..count).map(key).collect();
        raw.build()
    };
    vec![
        variant("fugg", Refused("Magic"), [b"FUGG", &base[4..]].concat()),
        variant("lower_case_magic", Refused("Magic"), [b"gguf", &base[4..]].concat()),
        variant("version_1", Refused("Version"), header(1, 0, 0, &[])),
        variant("version_max", Refused("Version"), header(u32::MAX, 0, 0, &[])),
        variant("big_endian_2", Refused("BigEndian"), big_endian(2)),
        variant("big_endian_3", Refused("BigEndian"), big_endian(3)),
        variant("tensors_without_table", Refused("Truncated"), header(3, 262_144, 0, &[])),
        variant("keys_without_section", Refused("Truncated"), header(3, 0, 65_536, &[])),
        variant("keys_65536", Loads, keys(65_536)),
        variant("keys_65537", Refused("Limit"), keys(65_537)),
        variant("key_empty", Refused("Key"), one_key("", U32, 1u32.to_le_bytes())),
        variant("key_not_ascii", Refused("Key"), one_key(b"\xff\xfe\0", U32, 1u32.to_le_bytes())),
        variant("key_umlaut", Refused("Key"), one_key("ü", U32, 1u32.to_le_bytes())),
        variant("key_newline", Refused("Key"), one_key("a\nb", U32, 1u32.to_le_bytes())),
        variant("value_type_max", Refused("ValueType"), one_key("k", u32::MAX, [0; 4])),
        variant("value_missing", Refused("Truncated"), one_key("k", U64, [0; 7])),
        variant("bool_2", Refused("Bool"), one_key("k", BOOL, [2])),
        variant("bool_255", Refused("Bool"), one_key("k", BOOL, [255])),
        variant("string_not_utf8", Loads, one_key("k", STRING, text(b"\xff\xfe"))),
        variant("string_16m", Loads, one_key("k", STRING, text(vec![b'x'; 16 << 20]))),
        variant("string_past_16m", Refused("Limit"), {
            one_key("k", STRING, text(vec![b'x'; (16 << 20) + 1]))
        }),
        variant("split_count_1", Loads, in_split(0, 1, 12)),
        variant("split_count_1025", Refused("Limit"), in_split(0, 1025, 12)),
        variant("split_without_number", Refused("MissingKey"), {
            Raw::base().append(entry("split.count", U16, 2u16.to_le_bytes())).build()
        }),
        variant("split_count_float", Refused("WrongType"), {
            Raw::base().append(entry("split.count", F32, 2f32.to_le_bytes())).build()
        }),
        variant("split_count_negative", Refused("OutOfRange"), {
            Raw::base().append(entry("split.count", I32, (-2i32).to_le_bytes())).build()
        }),
    ]
}

fn array_variants() -> Vec<Case> {
    let nested = |depth: usize| {
        let level = [ARRAY.to_le_bytes().to_vec(), 1u64.to_le_bytes().to_vec()].concat();
        one_key("k", ARRAY, level.repeat(depth))
    };
    let keyed = |value: Vec<u8>| one_key("k", ARRAY, value);
    vec![
        variant("nested_once", Refused("NestedArray"), nested(1)),
        variant("nested_2000", Refused("NestedArray"), nested(2_000)),
        variant("nested_200000", Refused("NestedArray"), nested(200_000)),
        variant("bools_with_a_2", Refused("Bool"), keyed(array(BOOL, 3, &[0, 1, 2]))),
        variant("strings_of_no_bytes", Refused("Truncated"), keyed(array(STRING, 1 << 24, &[]))),
        variant("numbers_of_no_bytes", Refused("Truncated"), keyed(array(U64, 1 << 24, &[]))),
        variant("one_element_short", Refused("Truncated"), keyed(array(U32, 3, &[0; 11]))),
        variant("one_string_short", Refused("Truncated"), {
            keyed(array(STRING, 3, &[text("a"), text("b")].concat()))
        }),
        variant("string_past_the_end", Refused("Truncated"), {
            keyed(array(STRING, 1, &[&100u64.to_le_bytes()[..], b"short"].concat()))
        }),
        variant("long_string_of_array", Refused("Limit"), {
            keyed(array(STRING, 1, &u64::MAX.to_le_bytes()))
        }),
        variant("empty_arrays_of_all_types", Loads, {
            let mut raw = Raw::of_rows(Vec::new(), Vec::new());
            for type_id in (0..13).filter(|&type_id| type_id != ARRAY) {
                raw = raw.append(entry(format!("k{type_id}"), ARRAY, array(type_id, 0, &[])));
            }
            raw.build()
        }),
        variant("a_million_empty_strings", Loads, {
            keyed(array(STRING, 1_000_000, &vec![0; 8_000_000]))
        }),
    ]
}

fn alignment_variants() -> Vec<Case> {
    let stated =
        |type_id, value: &[u8]| Raw::base().set(entry("general.alignment", type_id, value)).build();
    vec![
        variant("alignment_1", Refused("Alignment"), stated(U32, &1u32.to_le_bytes())),
        variant("alignment_4", Refused("Alignment"), stated(U32, &4u32.to_le_bytes())),
        variant("alignment_24", Refused("Alignment"), stated(U32, &24u32.to_le_bytes())),
        variant("alignment_33", Refused("Alignment"), stated(U32, &33u32.to_le_bytes())),
        variant("alignment_2m", Refused("Alignment"), stated(U32, &(2u32 << 20).to_le_bytes())),
        variant("alignment_max", Refused("Alignment"), stated(U32, &u32::MAX.to_le_bytes())),
        variant("alignment_u64", Refused("WrongType"), stated(U64, &32u64.to_le_bytes())),
        variant("alignment_text", Refused("WrongType"), stated(STRING, &text("32"))),
        variant("alignment_is_not_that_of_the_file", Refused("TensorOffset"), {
            stated(U32, &4096u32.to_le_bytes())
        }),
    ]
}

fn tensor_variants() -> Vec<Case> {
    let rows = |rows: Vec<Row>| Raw::of_rows(rows, vec![0; 4096]).build();
    let typed = |type_id| rows(vec![row("a", &[256], type_id, 0)]);
    let many = |count: u64| {
        let name = |index: u64| row(format!("t{index}"), &[0], 0, 0);
        Raw::of_rows((0..count).map(name).collect(), Vec::new()).build()
    };
    vec![
        variant("name_empty", Refused("TensorName"), rows(vec![row("", &[32], 0, 0)])),
        variant("name_not_utf8", Refused("TensorName"), rows(vec![row(b"\xff", &[32], 0, 0)])),
        variant("no_dimensions", Refused("Dimensions"), rows(vec![row("a", &[], 0, 0)])),
        variant("five_dimensions", Refused("Limit"), rows(vec![row("a", &[1; 5], 0, 0)])),
        variant("product_wraps_to_zero", Refused("Dimensions"), {
            rows(vec![row("a", &[1 << 33, 1 << 33], 0, 0)])
        }),
        variant("zero_hides_no_wrap", Refused("Dimensions"), {
            rows(vec![row("a", &[0, 1 << 33, 1 << 33], 0, 0)])
        }),
        variant("sizes_wrap", Refused("TensorRange"), {
            let half = (1 << 62) - 16;
            rows(vec![row("a", &[half], 1, 0), row("b", &[half], 1, half * 2)])
        }),
        variant("byte_count_wraps", Refused("Dimensions"), {
            rows(vec![row("a", &[i64::MAX as u64], 0, 0)])
        }),
        variant("type_4_retired", Refused("TensorType"), typed(4)),
        variant("type_31_retired", Refused("TensorType"), typed(31)),
        variant("type_24_unsupported", Refused("TensorType"), typed(24)),
        variant("type_255_unknown", Refused("TensorType"), typed(255)),
        variant("one_offset_for_two", Refused("TensorOffset"), {
            rows(vec![row("a", &[32], 0, 0), row("b", &[32], 0, 0)])
        }),
        variant("half_an_overlap", Refused("TensorOffset"), {
            rows(vec![row("a", &[32], 0, 0), row("b", &[32], 0, 96)])
        }),
        variant("a_hole", Refused("TensorOffset"), {
            rows(vec![row("a", &[32], 0, 0), row("b", &[32], 0, 160)])
        }),
        variant("first_not_at_zero", Refused("TensorOffset"), rows(vec![row("a", &[32], 0, 32)])),
        variant("one_byte_short", Refused("TensorRange"), {
            Raw::of_rows(vec![row("a", &[32], 0, 0)], vec![0; 127]).build()
        }),
        variant("no_data", Refused("TensorRange"), {
            Raw::of_rows(vec![row("a", &[32], 0, 0)], Vec::new()).build()
        }),
        variant("tensors_262144", Loads, many(262_144)),
        variant("tensors_262145", Refused("Limit"), many(262_145)),
        variant("dimension_zero", Loads, rows(vec![row("a", &[32, 0], 0, 0)])),
        variant("row_zero", Loads, rows(vec![row("a", &[0, 7], 8, 0)])),
    ]
}

#[test]
fn recipes_are_the_files_first_written_down() {
    for case in recipes() {
        assert_eq!(Some(fnv1a(&case.bytes)), case.digest, "{}", case.name);
    }
    assert_eq!(recipes().len(), 43);
    let left_to = |step: &str| {
        recipes().iter().filter(|case| matches!(case.expected, Later(by) if by == step)).count()
    };
    assert_eq!((left_to("models"), left_to("tokenizer"), left_to("chat")), (5, 3, 1));
}

#[test]
fn every_file_loads_or_is_refused_in_bounded_time_and_memory() {
    let directory = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for case in recipes().into_iter().chain(variants()) {
        let path = directory.path().join(format!("{}.gguf", case.name));
        std::fs::write(&path, &case.bytes).unwrap();
        let outcome = child::run("load", &path);
        let as_expected = match case.expected {
            Loads | Later(_) => outcome.verdict == "loads",
            Refused(error) => {
                let rest = outcome.verdict.strip_prefix("refused ");
                rest.and_then(|rest| rest.split([' ', '{']).next()) == Some(error)
            }
        };
        let name = case.name;
        if !as_expected || !outcome.status.success() {
            let (expected, verdict) = (case.expected, outcome.verdict);
            wrong.push(format!("{name}: {expected:?}, found {} {verdict}", outcome.status));
        } else if outcome.load > Duration::from_secs(1) || outcome.peak_bytes > 64 << 20 {
            wrong.push(format!("{name}: {:?}, {} bytes", outcome.load, outcome.peak_bytes));
        }
        std::fs::remove_file(&path).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_later_step_finds_what_is_wrong_through_typed_access() {
    let open = |name: &str| {
        let case = recipes().into_iter().find(|case| case.name == name).unwrap();
        minfer_gguf::File::from_bytes(case.bytes).unwrap()
    };
    assert!(open("G46_scores_u8").metadata().f32s("tokenizer.ggml.scores").is_err());
    assert!(open("G50_notokens").metadata().require_strings("tokenizer.ggml.tokens").is_err());
    assert_eq!(open("G31_dim0").tensor("output.weight").unwrap().bytes, 0);
    let file = open("G52_tok_badutf8_ok");
    let tokens = file.metadata().require_strings("tokenizer.ggml.tokens").unwrap();
    assert_eq!(tokens.get(270), Some(&b"\xff\xfe"[..]));
    assert_eq!(tokens.text(270).unwrap(), "\u{fffd}\u{fffd}");
}

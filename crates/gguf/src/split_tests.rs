use super::*;

#[test]
fn part_names_round_trip() {
    for (part, count) in [(1, 1), (1, 2), (7, 12), (99_999, 99_999)] {
        let name = part_name("m-of-1-q4", part, count);
        assert_eq!(parse_part_name(&name), Some(("m-of-1-q4", part, count)));
    }
}

#[test]
fn other_names_are_not_parts() {
    for name in [
        "model.gguf",
        "m-00001-of-00002.bin",
        "m-00000-of-00002.gguf",
        "m-00003-of-00002.gguf",
        "m-1-of-2.gguf",
        "m-00001-of-000002.gguf",
        "m-+0001-of-00002.gguf",
        "00001-of-00002.gguf",
        "-of-.gguf",
        ".gguf",
        "",
    ] {
        assert_eq!(parse_part_name(name), None, "{name}");
    }
}

use super::*;

#[test]
fn options_are_read() {
    let read = |line: &str| options(&line.split_whitespace().map(String::from).collect::<Vec<_>>());
    assert_eq!(read("").unwrap(), (false, REPS));
    assert_eq!(read("--build --reps 3").unwrap(), (true, 3));
    assert!(read("--reps").is_err() && read("--reps 0").is_err() && read("--rep 3").is_err());
}

#[test]
fn both_programs_get_the_same_work() {
    let model = Path::new("m.gguf");
    assert_eq!(
        minfer_arguments(model, 2).join(" "),
        "bench -m m.gguf -p 512 -n 64 -t 2 -r 1 -o json"
    );
    assert_eq!(peer_arguments(model, 2).join(" "), "m.gguf 2 512 64 1");
}

//! `chat`, fed from a pipe.

use crate::shell::{Shell, ended, smollm2};

#[test]
fn a_conversation_is_kept_saved_and_loaded() {
    let (shell, model) = (Shell::new(), smollm2());
    let arguments = ["chat", "-m", &model, "--temp", "0", "-n", "4", "-sys", "Be brief."];
    let lines = [
        "My name is\\",
        "Anna.",
        "",
        "/save a.json",
        "What is my name?",
        "/save b.json",
        "/regen",
        "/save c.json",
        "/nonsense",
        "/clear",
        "/regen",
        "/help",
        "/load b.json",
        "/exit",
        "never read",
    ];
    let ended = shell.feed(&arguments, &lines.join("\n"));
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let saved = |name: &str| -> Vec<(String, String)> {
        let text = std::fs::read_to_string(shell.path(name)).unwrap();
        let list: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        list.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
    };
    let (first, second) = (saved("a.json"), saved("b.json"));
    let roles: Vec<&str> = second.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant"]);
    assert_eq!(second[..3], first[..]);
    assert_eq!(first[1].1, "My name is\nAnna.");
    assert_eq!(saved("c.json"), second, "greedy: the same answer again");
    // Two answers and one again, each a line or more; their closing lines are elsewhere.
    assert!(ended.stdout.contains(&second[4].1), "{}", ended.stdout);
    for part in [
        "no command /nonsense",
        "/bye and /quit",
        "nothing to answer yet",
        "5 messages read",
        "Ctrl-C",
        "cached)",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn a_single_turn_ends_after_one_answer() {
    let (shell, model) = (Shell::new(), smollm2());
    let arguments = ["chat", "-m", &model, "-st", "-n", "2", "--temp", "0", "--no-timings"];
    let ended = shell.feed(&arguments, "Hello\nHello\n");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
}

#[test]
fn a_line_of_other_bytes_is_left_out() {
    let shell = Shell::new();
    let model = shell.good(&["synth", "tiny-llama", "-q", "q4_0", "-o", "m.gguf"]);
    std::fs::write(shell.path("input"), b"caf\xe9\n/save a.json\nhi\n/save a.json\n").unwrap();
    let arguments = ["chat", "-m", model.trim(), "-n", "1", "-s", "1", "--no-timings"];
    let input = std::fs::File::open(shell.path("input")).unwrap();
    let ended = ended(shell.command().args(arguments).stdin(input).output().unwrap());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    for part in
        ["left out: expected UTF-8 text, found other bytes at offset 3", "0 messages", "2 m"]
    {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

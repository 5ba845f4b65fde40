//! `run`, `tokenize`, `score` and `perplexity` on SmolLM2.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::shell::{Shell, ended, smollm2};

const QUESTION: &str = "What is the capital of France?";

#[test]
fn run_answers_in_json() {
    let (shell, model) = (Shell::new(), smollm2());
    let arguments = ["run", "-m", &model, "--json", "--temp", "0", "-n", "6", QUESTION];
    let answer = shell.json(&arguments);
    let tokens = answer["tokens"].as_array().unwrap().len();
    assert_eq!(answer["finish_reason"], if tokens < 6 { "stop" } else { "length" });
    assert!(!answer["text"].as_str().unwrap().is_empty());
    // The template: a system message of its own, the question, the assistant's turn.
    let prompt: Vec<u64> =
        answer["prompt_tokens"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
    assert_eq!((prompt.len(), prompt[0], prompt[36]), (37, 1, 198));
    let timings = &answer["timings"];
    assert_eq!((&timings["prompt_n"], &timings["predicted_n"]), (&json!(37), &json!(tokens)));
    for name in ["prompt_ms", "predicted_ms", "prompt_per_second", "predicted_per_second"] {
        assert!(timings[name].as_f64().unwrap() > 0.0, "{name}");
    }
    let hash = answer["logits_hash"].as_str().unwrap();
    assert_eq!(hash.len(), 16);
    // The same again, cut into other steps, by another number of threads.
    let again = shell.json(&[&arguments[..], &["-ub", "7", "-t", "1"]].concat());
    assert_eq!(again["logits_hash"], hash);
}

#[test]
fn the_exact_path_knows_the_capital() {
    let (shell, model) = (Shell::new(), smollm2());
    let arguments = ["run", "-m", &model, "--exact", "--temp", "0", "-n", "8", QUESTION];
    let ended = shell.run(&arguments);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.stdout, "The capital of France is Paris.\n");
    // One line closes a generation, and nothing else is said.
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    for part in ["37 prompt tokens", "tok/s", "GB/s", "fingerprint of the numbers "] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let quiet = shell.run(&[&arguments[..], &["--no-timings"]].concat());
    assert_eq!(
        (quiet.stdout.as_str(), quiet.stderr.as_str()),
        ("The capital of France is Paris.\n", "")
    );
}

#[test]
fn prompts_come_from_everywhere() {
    let (shell, model) = (Shell::new().with("MINFER_RENDER", "yes"), smollm2());
    let expected = shell.good(&["run", "-m", &model, "Hello", "there"]);
    assert!(expected.contains("<|im_start|>user\nHello there<|im_end|>"), "{expected}");
    assert_eq!(shell.good(&["run", "-m", &model, "-p", "Hello there"]), expected);
    shell.write("prompt.txt", "Hello there\n");
    assert_eq!(shell.good(&["run", "-m", &model, "-f", "prompt.txt"]), expected);
    assert_eq!(shell.feed(&["run", "-m", &model], "Hello there\n").stdout, expected);
    let messages = r#"[{"role": "user", "content": "Hello there"}]"#;
    assert_eq!(shell.feed(&["run", "-m", &model, "--messages", "-"], messages).stdout, expected);
    let system = shell.good(&["run", "-m", &model, "-sys", "Be brief.", "-e", "a\\nb"]);
    assert!(system.contains("system\nBe brief.<|im_end|>") && system.contains("a\nb"), "{system}");
    assert_eq!(shell.good(&["run", "-m", &model, "--raw", "as it is"]), "as it is");
    let bare =
        shell.good(&["run", "-m", &model, "--chat-template", "{{ messages[0].content }}", "x"]);
    assert_eq!(bare, "x");
    shell.bad(&["run", "-m", &model, "--messages", "prompt.txt"], 1, &["prompt.txt", "JSON list"]);
    shell.bad(&["run", "-m", &model, "-f", "."], 2, &["error: .: ", "text file", "a folder"]);
    shell.bad(&["run", "-m", &model, "-f", "no.txt"], 2, &["no.txt: ", "no such file"]);
    std::fs::write(shell.path("bytes"), b"abc\xff").unwrap();
    shell.bad(&["run", "-m", &model, "-f", "bytes"], 1, &["bytes: ", "UTF-8", "offset 3"]);
    shell.bad(&["run", "-m", &model, "--chat-template", "{% if %}", "x"], 1, &["chat template"]);
}

#[test]
fn answers_match_schemas_and_end_at_stop_texts() {
    let (shell, model) = (Shell::new(), smollm2());
    let schema = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
        "additionalProperties": false}"#;
    let text = shell.good(&["run", "-m", &model, "-s", "1", "-n", "40", "-j", schema, QUESTION]);
    let object: Value = serde_json::from_str(&text).unwrap();
    assert!(object["n"].is_i64(), "{text}");
    let choice = shell.good(&["run", "-m", &model, "--regex", "(yes|no)", "-s", "1", QUESTION]);
    assert!(["yes\n", "no\n"].contains(&choice.as_str()), "{choice}");
    let raw = ["run", "-m", &model, "--raw", "--temp", "0", "--json", "The capital of France is"];
    let stopped = shell.json(&[&raw[..], &["--stop", "."]].concat());
    assert_eq!((&stopped["text"], &stopped["finish_reason"]), (&json!(" Paris"), &json!("stop")));
    let seeded = ["run", "-m", &model, "-s", "7", "-n", "5", "--no-timings", QUESTION];
    assert_eq!(shell.good(&seeded), shell.good(&seeded), "a seed gives one answer");
}

#[test]
fn tokenize_gives_ids_and_pieces() {
    let (shell, model) = (Shell::new(), smollm2());
    let text = "Hello, world!<|im_end|>";
    let tokens = shell.json(&["tokenize", "-m", &model, "--json", text]);
    let expected = json!({
        "ids": [19556, 28, 905, 17, 2],
        "pieces": ["Hello", ",", " world", "!", "<|im_end|>"],
    });
    assert_eq!(tokens, expected);
    let plain = shell.json(&["tokenize", "-m", &model, "--json", "--no-special", text]);
    assert!(plain["ids"].as_array().unwrap().len() > 6, "{plain}");
    let lines = shell.good(&["tokenize", "-m", &model, "--no-bos", "Hello"]);
    assert_eq!(lines, "   19556  \"Hello\"\n");
}

#[test]
fn score_gives_probabilities_of_the_text_and_of_what_follows() {
    let (shell, model) = (Shell::new(), smollm2());
    let text = "The capital of France is";
    let score = shell.json(&["score", "-m", &model, "--exact", "--top", "3", "--json", text]);
    let tokens = score["tokens"].as_array().unwrap();
    assert_eq!(tokens.len(), 5);
    assert_eq!((&tokens[0]["id"], &tokens[0]["logprob"]), (&json!(504), &Value::Null));
    assert!(tokens[1..].iter().all(|token| token["logprob"].as_f64().unwrap() < 0.0));
    let top = score["top"].as_array().unwrap();
    assert_eq!((top.len(), &top[0]["id"], &top[0]["piece"]), (3, &json!(7042), &json!(" Paris")));
    let gap = |name: &str| top[0][name].as_f64().unwrap() - top[1][name].as_f64().unwrap();
    assert!((gap("logit") - gap("logprob")).abs() < 1e-4);
    assert!(shell.good(&["score", "-m", &model, text]).contains("\" Paris\""));
}

#[test]
fn a_reader_that_goes_away_is_a_normal_end() {
    let (shell, model) = (Shell::new(), smollm2());
    let mut child = shell
        .command()
        .args(["run", "-m", &model, "--ignore-eos", "-n", "2000", "--temp", "0", QUESTION])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 1]).unwrap();
    drop(out);
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
}

#[test]
fn an_interrupt_ends_the_answer_and_is_told() {
    let (shell, model) = (Shell::new(), smollm2());
    let mut child = shell
        .command()
        .args(["run", "-m", &model, "--ignore-eos", "-n", "2000", "--temp", "0", QUESTION])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 1]).unwrap();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!(ended.status, 130, "{}", ended.stderr);
    assert!(ended.stderr.contains(" | interrupted | "), "{}", ended.stderr);
}

#[test]
fn profile_and_trace_show_the_ops() {
    let (shell, model) = (Shell::new(), smollm2());
    let arguments = ["run", "-m", &model, "--profile", "--trace", "trace", "-n", "2", "hi"];
    let ended = shell.run(&arguments);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    for part in ["attention", "calls", "GB/s", "\nall "] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let index = std::fs::read_to_string(shell.path("trace/index.tsv")).unwrap();
    assert!(index.starts_with("file\tnode\top\toutput\ttype\tbytes\n0000.bin\t"), "{index}");
    let last = index.lines().last().unwrap().split('\t').collect::<Vec<_>>();
    let bytes = std::fs::metadata(shell.path("trace").join(last[0])).unwrap().len();
    assert_eq!(bytes.to_string(), last[5]);
}

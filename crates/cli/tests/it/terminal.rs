//! `chat` at a terminal: editing, earlier lines, interrupts.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::shell::{Shell, smollm2};

const INTERRUPT: &str = "\x03";
const UP: &str = "\x1b[A";
const WAY_OUT: &str = "another Ctrl-C ends the conversation";

/// The command at a terminal of its own.
struct Terminal {
    child: Child,
    keys: File,
    seen: Arc<Mutex<String>>,
}

impl Terminal {
    fn start(shell: &Shell, arguments: &[&str]) -> Terminal {
        Terminal::of("xterm", shell, arguments)
    }

    fn of(kind: &str, shell: &Shell, arguments: &[&str]) -> Terminal {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let path = ptsname(&keys, Vec::new()).unwrap().into_string().unwrap();
        let keys = File::from(keys);
        let end = || {
            use std::os::unix::fs::OpenOptionsExt as _;
            let mut options = File::options();
            let noctty = OpenptFlags::NOCTTY.bits().try_into().unwrap();
            options.read(true).write(true).custom_flags(noctty).open(&path).unwrap()
        };
        let child = shell
            .command()
            .args(arguments)
            .env("TERM", kind)
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let seen = Arc::new(Mutex::new(String::new()));
        let (mut screen, text) = (keys.try_clone().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Terminal { child, keys, seen }
    }

    fn keys(&mut self, keys: impl AsRef<[u8]>) {
        self.keys.write_all(keys.as_ref()).unwrap();
    }

    /// Waits for a text, and takes what came up to its end.
    fn wait(&self, text: &str) {
        let start = Instant::now();
        loop {
            let mut seen = self.seen.lock().unwrap();
            if let Some(at) = seen.find(text) {
                seen.drain(..at + text.len());
                return;
            }
            let waited = start.elapsed();
            assert!(waited < Duration::from_secs(60), "no {text:?} in {seen:.2000?}");
            drop(seen);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    fn status(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

fn tiny(shell: &Shell) -> String {
    shell.good(&["synth", "tiny-llama", "-q", "q4_0", "-o", "m.gguf"]).trim().to_owned()
}

#[test]
fn an_interrupt_at_the_prompt_tells_the_way_out_before_it_is_one() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let mut chat = Terminal::start(&shell, &["chat", "-m", &model, "-sys", "a", "-n", "1"]);
    chat.wait("> ");
    chat.keys(INTERRUPT);
    chat.wait(WAY_OUT);
    // A line between two interrupts makes the second one a first one.
    chat.wait("> ");
    chat.keys("/save a.json\r");
    chat.wait("1 messages written");
    chat.wait("> ");
    chat.keys(INTERRUPT);
    chat.wait(WAY_OUT);
    chat.wait("> ");
    chat.keys(INTERRUPT);
    assert_eq!(chat.status(), Some(130));
}

#[test]
fn a_terminal_without_an_editor_tells_the_way_out_too() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let mut chat = Terminal::of("dumb", &shell, &["chat", "-m", &model]);
    chat.wait("> ");
    chat.interrupt();
    chat.wait(WAY_OUT);
    chat.interrupt();
    assert_eq!(chat.status(), Some(130));
}

#[test]
fn a_missing_prompt_at_a_terminal_leads_to_chat() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let mut run = Terminal::start(&shell, &["run", "-m", &model]);
    run.wait("error: no text: give it as PROMPT");
    run.wait("`minfer chat`");
    assert_eq!(run.status(), Some(2));
}

#[test]
fn two_quick_interrupts_of_an_answer_leave_the_conversation() {
    let (shell, model) = (Shell::new(), smollm2());
    let arguments = ["chat", "-m", &model, "--ignore-eos", "-n", "2000", "-sys", "Be brief."];
    let mut chat = Terminal::start(&shell, &arguments);
    chat.wait("> ");
    chat.keys("Name a river.\r");
    // The editor leaves the line, then the answer's first words come.
    chat.wait("2004l\r\n");
    chat.wait(" ");
    chat.interrupt();
    chat.interrupt();
    chat.wait(" | interrupted | ");
    chat.wait("> ");
    chat.keys("/save a.json\r");
    chat.wait("3 messages written");
    chat.wait("> ");
    chat.keys("\x04");
    assert_eq!(chat.status(), Some(0));
}

#[test]
fn lines_are_edited_and_come_back() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let arguments = ["chat", "-m", &model, "-n", "1", "--history", "lines"];
    let mut chat = Terminal::start(&shell, &arguments);
    chat.wait("> ");
    // The last letter goes, then the first one comes.
    chat.keys("clearr\x7f\x01/\r");
    chat.wait("a new conversation");
    chat.wait("> ");
    chat.keys([UP, "\r"].concat());
    chat.wait("a new conversation");
    chat.wait("> ");
    chat.keys(b"\xff");
    chat.wait("the line is left out: expected UTF-8");
    chat.wait("> ");
    chat.keys("/exit\r");
    assert_eq!(chat.status(), Some(0));
    assert_eq!(std::fs::read_to_string(shell.path("lines")).unwrap(), "/clear\n/exit\n");

    let mut chat = Terminal::start(&shell, &arguments);
    chat.wait("> ");
    chat.keys([UP, UP, "\r"].concat());
    chat.wait("a new conversation");
    chat.wait("> ");
    chat.keys("/exit\r");
    assert_eq!(chat.status(), Some(0));
}

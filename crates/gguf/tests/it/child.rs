//! Loads a file in a process of its own, so that a crash, a hang or a memory peak is seen.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use minfer_gguf::{Array, File, Metadata, Value};

const TASK: &str = "MINFER_GGUF_TEST_CHILD";

/// What a child did.
pub struct Outcome {
    pub status: ExitStatus,
    /// `loads`, or `refused` and the error.
    pub verdict: String,
    pub load: Duration,
    /// Growth of the peak resident size while loading; 0 where the system does not tell.
    pub peak_bytes: u64,
}

/// Runs `task` on `path` in a child, which is killed after 20 seconds.
pub fn run(task: &str, path: &Path) -> Outcome {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child::works_on_its_task", "--nocapture", "--test-threads=1"])
        .env(TASK, format!("{task} {}", path.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{task} {}: no end after 20 s", path.display());
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    let field = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    Outcome {
        status,
        verdict: field("verdict:"),
        load: Duration::from_micros(field("micros:").parse().unwrap_or(u64::MAX / 2)),
        peak_bytes: field("peak:").parse().unwrap_or(u64::MAX),
    }
}

/// The child's side; without a task there is nothing to do.
#[test]
fn works_on_its_task() {
    let Ok(task) = std::env::var(TASK) else { return };
    let (task, path) = task.split_once(' ').unwrap();
    match task {
        "load" => load(Path::new(path)),
        "signal" => signal_self(Path::new(path)),
        "release" => release(Path::new(path)),
        other => panic!("unknown task {other}"),
    }
}

fn load(path: &Path) {
    let before = resident_bytes("VmHWM:");
    let start = Instant::now();
    let loaded = File::open(path);
    let load = start.elapsed();
    let verdict = match &loaded {
        Ok(file) => {
            use_everything(file);
            "loads".to_owned()
        }
        Err(error) => format!("refused {:?} {error}", error.root()),
    };
    let peak = resident_bytes("VmHWM:") - before;
    report(&format!("\nverdict:{verdict}\nmicros:{}\npeak:{peak}\n", load.as_micros()));
}

/// Asks every question a caller could ask; none may panic.
pub fn use_everything(file: &File) {
    let metadata = file.metadata();
    for (key, value) in metadata.iter() {
        use_key(metadata, key);
        if let Value::Array(Array::String(strings)) = value {
            assert_eq!(strings.texts().count(), strings.len());
        }
    }
    for tensor in file.tensors() {
        assert_eq!(file.bytes(tensor).len() as u64, tensor.bytes);
        assert_eq!(file.tensor(&tensor.name), Some(tensor));
    }
}

fn use_key(metadata: &Metadata, key: &str) {
    let answers = [
        metadata.u32(key).is_ok(),
        metadata.u64(key).is_ok(),
        metadata.i32(key).is_ok(),
        metadata.f32(key).is_ok(),
        metadata.bool(key).is_ok(),
        metadata.str(key).is_ok(),
        metadata.strings(key).is_ok(),
        metadata.f32s(key).is_ok(),
        metadata.i32s(key).is_ok(),
        metadata.u32s(key).is_ok(),
        metadata.bools(key).is_ok(),
    ];
    assert!(answers.contains(&false), "{key} cannot be of every type");
}

/// Opens a map, then sends this process a SIGBUS that is no fault of the map, twice: the handler
/// that was there before (the one of Rust's runtime) takes the first as a reason to restore the
/// default, which the second meets.
fn signal_self(path: &Path) {
    let _file = File::open(path).unwrap();
    let own = std::process::id().to_string();
    for _ in 0..2 {
        Command::new("kill").args(["-BUS", &own]).status().unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    report("\nverdict:survived\n");
}

fn report(text: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Reads a file whole, releases its pages, and tells how much memory that gave back, in
/// `gave back` bytes. The file must read the same again.
fn release(path: &Path) {
    let file = File::open(path).unwrap();
    let (tensor, part) = (&file.tensors()[0], &file.parts()[0]);
    let sum = || file.bytes(tensor).iter().map(|&byte| u64::from(byte)).sum::<u64>();
    let first = sum();
    let before = resident_bytes("RssFile:");
    part.release(tensor.offset..tensor.offset + tensor.bytes).unwrap();
    let after = resident_bytes("RssFile:");
    assert_eq!(sum(), first);
    report(&format!("\nverdict:gave back {}\n", before.saturating_sub(after)));
}

/// A line of the system's account of this process; 0 where there is none.
fn resident_bytes(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|text| text.strip_prefix(line));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0) * 1024
}

//! A hub on this machine: one repository, one file, and ways to misbehave.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;

/// What the server does with a request for the file.
#[derive(Clone, Copy, PartialEq)]
pub enum Manner {
    /// Sends what is asked for.
    Good,
    /// The first answer breaks off in the middle.
    BreaksOnce,
    /// Half of what is asked for comes the first time, nothing later.
    BreaksAlways,
    /// Lists the file and does not have it.
    NoFile,
    /// Sends the whole file whatever range is asked for.
    NoRanges,
    /// Sends other bytes than it has told the sum of.
    Lies,
    /// Takes connections and never answers.
    Silent,
}

/// The server; it ends with the test's process.
pub struct Server {
    pub url: String,
    /// Ranges that were asked for, by their first byte.
    pub starts: Arc<Mutex<Vec<usize>>>,
}

/// Serves `user/repo` with the files `m-Q4_0.gguf`, which is `content`, and `m-Q8_0.gguf`.
pub fn serve(content: Vec<u8>, manner: Manner) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let starts = Arc::new(Mutex::new(Vec::new()));
    let (seen, content, count) = (starts.clone(), Arc::new(content), Arc::new(AtomicUsize::new(0)));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (seen, content, count) = (seen.clone(), content.clone(), count.clone());
            thread::spawn(move || answer(stream, &content, manner, &seen, &count));
        }
    });
    Server { url, starts }
}

fn answer(
    mut stream: TcpStream,
    content: &[u8],
    manner: Manner,
    starts: &Mutex<Vec<usize>>,
    count: &AtomicUsize,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    if manner == Manner::Silent {
        thread::sleep(Duration::from_secs(60));
        return None;
    }
    loop {
        let mut path = String::new();
        reader.read_line(&mut path).ok().filter(|length| *length > 0)?;
        let mut start = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            if let Some(range) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                start = range.trim().trim_end_matches('-').parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let path = path.split(' ').nth(1)?.to_owned();
        if path.starts_with("/api/models/user/repo/") {
            send(&mut stream, "200 OK", listing(content).as_bytes(), usize::MAX)?;
        } else if path.ends_with("/resolve/c0ffee/m-Q4_0.gguf") && manner != Manner::NoFile {
            starts.lock().ok()?.push(start);
            let first = count.fetch_add(1, Ordering::SeqCst) == 0;
            let lie: Vec<u8> = content.iter().map(|byte| !byte).collect();
            let (status, body) = match manner {
                Manner::Lies => ("200 OK", &lie[..]),
                Manner::NoRanges => ("200 OK", content),
                _ if start >= content.len() => ("416 Range Not Satisfiable", &[][..]),
                _ if start > 0 => ("206 Partial Content", &content[start..]),
                _whole => ("200 OK", content),
            };
            let most = match (manner, first) {
                (Manner::BreaksOnce | Manner::BreaksAlways, true) => body.len() / 2,
                (Manner::BreaksAlways, false) => 0,
                _ => usize::MAX,
            };
            send(&mut stream, status, body, most)?;
        } else {
            send(&mut stream, "404 Not Found", b"", usize::MAX)?;
        }
    }
}

/// Sends an answer, or only the first `most` bytes of its body.
fn send(stream: &mut TcpStream, status: &str, body: &[u8], most: usize) -> Option<()> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body[..body.len().min(most)]).ok()?;
    stream.flush().ok()?;
    if most < body.len() {
        stream.shutdown(std::net::Shutdown::Both).ok()?;
        return None;
    }
    Some(())
}

fn listing(content: &[u8]) -> String {
    let size = content.len();
    let file = |name: &str, sha256: &str| {
        let lfs = json!({ "sha256": sha256 });
        json!({ "rfilename": name, "size": size, "lfs": lfs })
    };
    let siblings = [
        json!({ "rfilename": "README.md", "size": 3 }),
        file("../../escape-Q4_0.gguf", &sha256(content)),
        file("m-Q4_0.gguf", &sha256(content)),
        file("m-Q8_0.gguf", &sha256(b"")),
    ];
    json!({ "sha": "c0ffee", "siblings": siblings }).to_string()
}

pub fn sha256(bytes: &[u8]) -> String {
    let sum = ring::digest::digest(&ring::digest::SHA256, bytes);
    sum.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

//! What counts or changes things that all tests of a process share: each in a process of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use metal_sim::objc::{self, Settings};
use metal_sim::{Mode, Profile};
use minfer_backend_metal::{Metal, MetalOptions};
use minfer_engine::{Engine, EngineOptions, FinishReason};
use minfer_engine::{Placement, TargetId};
use minfer_gguf::File;
use minfer_quant::Quant;

use crate::harness::{ARCHITECTURES, greedy, tiny, tokens};

const TASK: &str = "MINFER_SIZES_TEST_CHILD";

const TASKS: [(&str, fn()); 2] = [("loads", loads), ("memory", memory)];

/// The child's side; without a task there is nothing to do.
#[test]
fn does_its_task() {
    let Ok(name) = std::env::var(TASK) else { return };
    let (_, task) = TASKS.iter().find(|(known, _)| *known == name).unwrap();
    task();
}

#[test]
fn processes_of_their_own() {
    for (name, _) in TASKS {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "alone::does_its_task", "--nocapture", "--test-threads=1"])
            .env(TASK, name)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {} {said}", output.status);
    }
}

fn engine(architecture: &str, settings: Settings) -> Result<Engine, String> {
    objc::configure(Settings { mode: Mode::Fast, ..settings });
    let file = File::from_bytes(tiny(architecture, Quant::Q8_0)).unwrap();
    let layers = minfer_models::open(&file).unwrap().config().layers;
    let device = Metal::new(MetalOptions::default()).map_err(|error| error.to_string())?;
    let options = EngineOptions { context: Some(96), ..EngineOptions::default() };
    let placement = Placement::whole(TargetId(0), layers);
    let engine = Engine::with_devices(file, vec![Box::new(device)], placement, options);
    engine.map_err(|error| error.to_string())
}

/// Loaded, used and dropped again and again: nothing is left, and nothing was misused.
fn loads() {
    let mut hashes = Vec::new();
    for _ in 0..3 {
        for architecture in ARCHITECTURES {
            let mut engine = engine(architecture, Settings::default()).unwrap();
            // Dropped with a request under way.
            engine.submit(greedy(tokens(20), 30)).unwrap();
            engine.step().unwrap();
            let done = engine.generate(greedy(tokens(40), 3), &mut |_| ()).unwrap();
            assert_eq!(done.reason, FinishReason::Length);
            hashes.push(done.stats.logits_hash);
        }
        // A step that nobody waits for any more ends by itself.
        let begin = Instant::now();
        while !objc::live_objects().is_empty() && begin.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(objc::live_objects(), [], "objects of dropped engines");
    }
    let first = hashes[..5].to_vec();
    assert!(hashes.chunks(5).all(|hashes| hashes == first));
    assert!(objc::take_misuse().is_empty());
}

/// GPUs with little memory: what does not fit is refused with its size, and the next GPU works.
fn memory() {
    for bytes in [1, 4 << 10, 60 << 10, 200 << 10] {
        let profile = Profile { max_buffer_length: bytes, ..Profile::M1 };
        let settings = Settings { profile, ..Settings::default() };
        let made = engine("gemma3", settings);
        let said = match made {
            Err(error) => error,
            Ok(mut engine) => {
                let done = engine.generate(greedy(tokens(90), 3), &mut |_| ()).unwrap();
                match done.reason {
                    FinishReason::Failed(said) => said,
                    reason => {
                        assert_eq!(reason, FinishReason::Length);
                        continue;
                    }
                }
            }
        };
        assert!(said.contains("bytes"), "{bytes}: {said}");
    }
    let mut engine = engine("gemma3", Settings::default()).unwrap();
    engine.generate(greedy(tokens(90), 3), &mut |_| ()).unwrap();
}

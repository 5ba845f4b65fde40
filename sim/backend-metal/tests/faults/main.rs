//! Injected faults: each kind at each place where it can strike. None ends the process, every error
//! tells its numbers, and the next request gives the numbers of a run without faults.

use std::time::{Duration, Instant};

use metal_sim::Mode;
use metal_sim::objc::faults::{Fault, arm, disarm, release_hangs};
use metal_sim::objc::{self, Settings};
use minfer_backend_metal::{Metal, MetalOptions, Staging};
use minfer_conformance::tiny_file;
use minfer_engine::{
    Completion, Engine, EngineOptions, Error, FinishReason, Params, Placement, Request, TargetId,
};
use minfer_gguf::File;
use minfer_graph::WeightId;
use minfer_plan::{Device, DeviceError, PlacedWeight, Region};
use minfer_quant::Quant;

/// How long a command buffer may take: far longer than any needs, however busy the machine is.
const DEADLINE: Duration = Duration::from_secs(60);

/// The same where they hang, which costs it each time.
const SHORT: Duration = Duration::from_secs(1);

/// Every so many command buffers one is made to hang.
const HANGS: u32 = 8;

/// A tiny model on the device, every launch of a prompt in a command buffer of its own.
fn load(architecture: &str, prefix_cache: bool, deadline: Duration) -> Result<Engine, Error> {
    let options = MetalOptions {
        staging: Staging::Full,
        deadline,
        command_buffer: Duration::from_nanos(1),
        ..MetalOptions::default()
    };
    let device: Box<dyn Device> = Box::new(Metal::new(options)?);
    let file = File::from_bytes(tiny_file(architecture, Quant::Q8_0)).unwrap();
    let layers = minfer_models::open(&file).unwrap().config().layers;
    let options = EngineOptions {
        threads: 1,
        context: Some(96),
        batch: 64,
        sequences: 1,
        prefix_cache,
        ..EngineOptions::default()
    };
    Engine::with_devices(file, vec![device], Placement::whole(TargetId(0), layers), options)
}

fn request() -> Request {
    let prompt = (0..64).map(|i| 3 + i * 7 % 280).collect();
    let sampling = Params::greedy();
    Request { prompt, sampling, max_tokens: Some(3), ..Request::default() }
}

fn run(engine: &mut Engine) -> Result<Completion, Error> {
    engine.generate(request(), &mut |_| ())
}

/// Waits for what an abandoned queue still has: it would come across the next fault.
fn settle() {
    let start = Instant::now();
    let busy = |(class, _): &(&str, usize)| *class == "MetalSimCommandBuffer";
    while objc::live_objects().iter().any(busy) && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Digits somewhere in a message.
fn has_numbers(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Arms a fault at every place of a request that an engine lives through; how many there were.
fn at_each_place(
    engine: &mut Engine,
    expected: &Completion,
    strike: &dyn Fn(u32),
    says: &[&str],
) -> u32 {
    for place in 0.. {
        settle();
        strike(place);
        let failed = match run(engine) {
            Ok(done) if done.reason == FinishReason::Length => {
                disarm();
                assert_eq!(&done, expected);
                return place;
            }
            Ok(Completion { reason: FinishReason::Failed(text), .. }) => text,
            Ok(other) => panic!("place {place}: {other:?}"),
            Err(error) => error.to_string(),
        };
        disarm();
        for word in says {
            assert!(failed.contains(word), "place {place}: {failed}");
        }
        assert!(has_numbers(&failed), "place {place}: {failed}");
        assert_eq!(&run(engine).unwrap(), expected, "after place {place}: {failed}");
        release_hangs();
    }
    0
}

/// Command buffers that fail, at each commit.
fn command_buffers(engine: &mut Engine, expected: &Completion) -> u32 {
    let strike = |place| arm(Fault::CommandBuffer, place);
    let says = ["a fault was injected", "last launches: ", " ("];
    let struck = at_each_place(engine, expected, &strike, &says);
    // A device that was brought back has no launches but those of the step that fails.
    let mut fails = |place| {
        settle();
        strike(place);
        match run(engine).unwrap().reason {
            FinishReason::Failed(text) => text,
            other => panic!("{other:?}"),
        }
    };
    fails(0);
    let text = fails(3);
    assert!(text.contains("last launches: token_embd (embed_q8_0), "), "{text}");
    assert_eq!(text.matches(" (").count(), 4, "{text}");
    struck + 2
}

fn lost_devices(engine: &mut Engine, expected: &Completion) -> u32 {
    let strike = |place| arm(Fault::DeviceLost, place);
    at_each_place(engine, expected, &strike, &["the device was lost", "last launches: "])
}

fn hangs(expected: &Completion) -> u32 {
    let mut engine = load("llama", false, SHORT).unwrap();
    let strike = |place| arm(Fault::Hang, place * HANGS);
    at_each_place(&mut engine, expected, &strike, &["passed its deadline; last launches: "])
}

/// Memory and kernels that cannot be had while a failed device is brought back.
fn recoveries(engine: &mut Engine, expected: &Completion) -> u32 {
    let mut struck = 0;
    for (fault, says) in
        [(Fault::Allocation, "cannot be allocated"), (Fault::MissingKernel, "kernel ")]
    {
        for place in 0.. {
            settle();
            arm(Fault::CommandBuffer, 2);
            arm(fault, place);
            let result = run(engine);
            disarm();
            // The request has failed either way; the devices, if they did not come back at once.
            let Err(error) = result else { break };
            struck += 1;
            let text = error.to_string();
            assert!(text.contains(says) && has_numbers(&text), "{fault:?} {place}: {text}");
            assert_eq!(&run(engine).unwrap(), expected, "{fault:?} {place}");
        }
    }
    struck
}

/// The same while a model is loaded and its first request runs.
fn loads(expected: &Completion) -> u32 {
    let mut struck = 0;
    for (fault, says) in
        [(Fault::Allocation, "cannot be allocated"), (Fault::MissingKernel, "no such function")]
    {
        for place in 0.. {
            arm(fault, place);
            let result = load("llama", false, DEADLINE).and_then(|mut engine| run(&mut engine));
            disarm();
            let text = match result {
                Err(error) => error.to_string(),
                Ok(Completion { reason: FinishReason::Failed(text), .. }) => text,
                Ok(done) => {
                    assert_eq!(&done, expected);
                    break;
                }
            };
            struck += 1;
            assert!(text.contains(says) && has_numbers(&text), "{fault:?} {place}: {text}");
            let next =
                load("llama", false, DEADLINE).and_then(|mut engine| run(&mut engine)).unwrap();
            assert_eq!(&next, expected, "{fault:?} {place}: {text}");
        }
    }
    struck
}

/// A page that is shared is copied before it is written; that copy fails, and what follows it.
fn copies() -> u32 {
    let mut engine = load("llama", true, DEADLINE).unwrap();
    let both = |engine: &mut Engine| [run(engine).unwrap(), run(engine).unwrap()];
    let expected = both(&mut engine);
    assert!(expected[1].stats.cached_tokens > 0);
    for place in 0.. {
        settle();
        arm(Fault::CommandBuffer, place);
        let done = run(&mut engine).unwrap();
        disarm();
        if done.reason == FinishReason::Length {
            return place;
        }
        assert_eq!(both(&mut engine), expected, "place {place}");
    }
    0
}

/// Weights that are not where they are said to be, and such as were never registered.
fn weights() -> u32 {
    let file = File::from_bytes(tiny_file("llama", Quant::Q8_0)).unwrap();
    let model = minfer_models::open(&file).unwrap();
    let regions: Vec<Region> = file.parts().iter().map(|part| Region(part.clone())).collect();
    let len = regions[0].bytes().len();
    let mut device = Metal::new(MetalOptions::default()).unwrap();
    let placed = |index: usize| PlacedWeight {
        id: WeightId(index as u32),
        decl: model.weights()[index].clone(),
        region: model.sources()[index].part,
        offset: model.sources()[index].offset as usize,
    };
    let mut struck = 0;
    for index in 0..model.weights().len() {
        let right = placed(index);
        let wrong = [
            (right.region, len - right.decl.bytes() + 4, "expected"),
            (right.region, usize::MAX, "expected"),
            (right.region + 1, right.offset, "found a region of 0"),
            (right.region, right.offset - 2, "no multiple of 4"),
        ];
        for (region, offset, says) in wrong {
            let weight = PlacedWeight { region, offset, ..right.clone() };
            let error = device.weights(&regions, &[weight]).unwrap_err();
            let DeviceError::Weight { name, reason, .. } = &error else { panic!("{error}") };
            assert!(*name == right.decl.name && reason.contains(says), "{error}");
            struck += 1;
        }
        device.weights(&regions, &[right]).unwrap();
    }
    struck
}

#[test]
fn two_hundred_faults_leave_the_next_request_right() {
    objc::configure(Settings { mode: Mode::Fast, workers: 2, ..Settings::default() });
    disarm();
    objc::take_misuse();
    let [(mut engine, expected), (mut experts, of_experts)] = ["llama", "qwen3moe"].map(|name| {
        let mut engine = load(name, false, DEADLINE).unwrap();
        let expected = run(&mut engine).unwrap();
        assert_eq!(expected.reason, FinishReason::Length);
        (engine, expected)
    });
    let struck = [
        command_buffers(&mut engine, &expected),
        command_buffers(&mut experts, &of_experts),
        lost_devices(&mut engine, &expected),
        lost_devices(&mut experts, &of_experts),
        hangs(&expected),
        recoveries(&mut engine, &expected),
        loads(&expected),
        copies(),
        weights(),
    ];
    assert_eq!(objc::take_misuse(), []);
    assert!(struck.iter().all(|count| *count > 1), "{struck:?}");
    assert!(struck.iter().sum::<u32>() >= 200, "{struck:?}");
}

//! The engine: a model on its devices, its sequences, and what can be asked of them.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use minfer_gguf::{File, Metadata};
use minfer_models::Model;
use minfer_plan::{Device, Placement};
use minfer_sample::grammar::{Constraint, Grammar, Trie, Vocab};
use minfer_sample::{Chain, Params};
use minfer_tokenizer::Tokenizer;

use crate::encode::ControlTexts;
use crate::error::Error;
use crate::event::Event;
use crate::flight::Flight;
use crate::options::EngineOptions;
use crate::programs::Programs;
use crate::sampling::Sampling;
use crate::scheduler::{Scheduler, SequenceId};
use crate::sequence::{Canceller, Limits, Live, Request};
use crate::stats::{DeviceMemory, EngineStats, LogitsHash, MemoryPlan, OpProfile, WaitProfile};
use crate::stop::StopText;

/// Stop strings of a request, and bytes of one of them, at most.
const STOPS_MAX: usize = 64;
const STOP_BYTES_MAX: usize = 4096;

/// A loaded model that serves requests. Not for sharing between threads: whoever owns it calls
/// [`Engine::step`].
pub struct Engine {
    pub(crate) file: File,
    pub(crate) model: Model,
    pub(crate) tokenizer: Arc<Tokenizer>,
    pub(crate) devices: Vec<Box<dyn Device>>,
    pub(crate) programs: Programs,
    pub(crate) placed: String,
    pub(crate) weights_bytes: Vec<u64>,
    pub(crate) scheduler: Scheduler,
    pub(crate) live: BTreeMap<SequenceId, Live>,
    /// The step that began before the one before it was known.
    pub(crate) flight: Option<Flight>,
    /// News that a call other than `step` came across.
    pub(crate) pending: Vec<Event>,
    pub(crate) options: EngineOptions,
    pub(crate) windows: Vec<Option<usize>>,
    pub(crate) control: OnceLock<ControlTexts>,
    pub(crate) trie: Option<Trie>,
    /// The devices failed and have not come back yet.
    pub(crate) lost: bool,
    pub(crate) steps: u64,
    pub(crate) profiled: BTreeMap<(&'static str, String), OpProfile>,
    pub(crate) waits: WaitProfile,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("model", &self.model)
            .field("options", &self.options)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// The tokenizer of the file.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The file's metadata.
    pub fn metadata(&self) -> &Metadata {
        self.file.metadata()
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Positions of the longest sequence.
    pub fn context(&self) -> usize {
        self.scheduler.context()
    }

    /// The settings it was loaded with.
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Where the layers are.
    pub fn placement(&self) -> &Placement {
        &self.programs.placement
    }

    /// The devices' descriptions, in the order of targets.
    pub fn devices(&self) -> impl Iterator<Item = &minfer_plan::Caps> {
        self.devices.iter().map(|device| device.target().caps())
    }

    /// Takes a request in; its tokens come from [`Engine::step`].
    ///
    /// # Errors
    /// A prompt that can never fit, ids outside the vocabulary, parameters or a grammar that are
    /// refused.
    pub fn submit(&mut self, request: Request) -> Result<SequenceId, Error> {
        let vocabulary = self.model.config().vocabulary;
        if let Some(id) = request.prompt.iter().find(|id| **id as usize >= vocabulary) {
            let expected = format!("token ids below {vocabulary}");
            return Err(Error::Request { field: "prompt", expected, found: id.to_string() });
        }
        check_stops(&request.stop)?;
        let mut sampling: Params = request.sampling;
        if request.ignore_eos {
            let banned = self.tokenizer.eog().iter().map(|id| (*id, f32::NEG_INFINITY));
            sampling.logit_bias.extend(banned.filter(|(id, _)| (*id as usize) < vocabulary));
        }
        let chain = Chain::new(sampling, vocabulary)?;
        let constraint = request.grammar.map(|grammar| self.constraint(&grammar)).transpose()?;
        let prompt_tokens = request.prompt.len();
        let now = self.now();
        let id = self.scheduler.submit(request.prompt)?;
        let sampling = Sampling {
            chain,
            constraint,
            decoder: Some(self.tokenizer.decoder(request.show_special)),
            stop: StopText::new(request.stop),
            logprobs: request.logprobs,
            fingerprint: request.fingerprint,
        };
        let deadline = request.deadline.map(|time| now.saturating_add(time));
        let live = Live {
            sampling,
            limits: Limits { canceller: Canceller::default(), deadline },
            max_tokens: request.max_tokens,
            prompt_tokens,
            generated: 0,
            hash: request.fingerprint.then(LogitsHash::default),
            started: None,
            first_token: None,
        };
        self.live.insert(id, live);
        Ok(id)
    }

    /// Ends a sequence; `false` when it is not known or has ended. The news comes from the next
    /// step.
    pub fn cancel(&mut self, id: SequenceId) -> bool {
        let live = self.live.get(&id);
        live.map(|live| live.limits.canceller.cancel()).is_some()
    }

    /// A flag that ends a sequence, for other threads. Of an unknown sequence it does nothing.
    pub fn canceller(&self, id: SequenceId) -> Canceller {
        self.live.get(&id).map(|live| live.limits.canceller.clone()).unwrap_or_default()
    }

    /// Whether no sequence waits or runs and no news is left to give.
    pub fn is_idle(&self) -> bool {
        self.live.is_empty() && self.pending.is_empty()
    }

    pub(crate) fn now(&self) -> Duration {
        self.options.clock.now()
    }

    fn constraint(&mut self, grammar: &Grammar) -> Result<Constraint, Error> {
        let trie = match self.trie.take() {
            Some(trie) => trie,
            None => Trie::new(vocab(&self.tokenizer, self.model.config().vocabulary))?,
        };
        let constraint = Constraint::new(&trie, grammar);
        self.trie = Some(trie);
        Ok(constraint?)
    }

    /// What it holds in memory: weights, KV pages, and the arena of the largest step.
    pub fn memory(&mut self) -> Result<MemoryPlan, Error> {
        self.programs.plan_ends(&self.model, &self.devices)?;
        let devices: Vec<DeviceMemory> =
            (0..self.devices.len()).map(|target| self.device_memory(target)).collect();
        Ok(MemoryPlan {
            weights_bytes: devices.iter().map(|device| device.weights_bytes).sum(),
            kv_bytes: devices.iter().map(|device| device.kv_bytes).sum(),
            arena_bytes: devices.iter().map(|device| device.arena_bytes).sum(),
            context: self.context(),
            placement: self.placed.clone(),
            devices,
        })
    }

    fn device_memory(&self, target: usize) -> DeviceMemory {
        let caps = self.devices[target].target().caps();
        self.programs.device_memory(target, caps, self.weights_bytes[target])
    }

    /// Sequences and pages at this moment.
    pub fn stats(&self) -> EngineStats {
        let groups = self.scheduler.groups();
        let sum = |count: &dyn Fn(usize) -> usize| (0..groups.len()).map(count).sum::<usize>();
        let free_pages = sum(&|group| groups.pool(group).free());
        let counters = self.scheduler.counters();
        EngineStats {
            running: self.scheduler.running().len(),
            waiting: self.scheduler.waiting().len(),
            free_pages,
            cached_pages: sum(&|group| groups.available(group)) - free_pages,
            total_pages: sum(&|group| groups.pool(group).total()),
            steps: self.steps,
            prefix_hits: counters.prefix_hits,
            prefix_tokens: counters.prefix_tokens,
            preempted: counters.preempted,
        }
    }

    /// What launches took since the engine was loaded, the most expensive first; empty unless
    /// [`EngineOptions::profile`] is set.
    pub fn profile(&self) -> Vec<OpProfile> {
        let mut rows: Vec<OpProfile> = self.profiled.values().cloned().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.nanoseconds));
        rows
    }

    /// How long the steps of [`Engine::profile`] were waited for.
    pub fn waits(&self) -> WaitProfile {
        self.waits
    }
}

fn check_stops(stops: &[String]) -> Result<(), Error> {
    let refuse =
        |expected: String, found: String| Err(Error::Request { field: "stop", expected, found });
    if stops.len() > STOPS_MAX {
        return refuse(format!("at most {STOPS_MAX} strings"), stops.len().to_string());
    }
    match stops.iter().find(|stop| stop.is_empty() || stop.len() > STOP_BYTES_MAX) {
        None => Ok(()),
        Some(stop) => refuse(
            format!("strings of 1 to {STOP_BYTES_MAX} bytes"),
            format!("{} bytes", stop.len()),
        ),
    }
}

/// The vocabulary for grammars: as many tokens as the model has logits.
fn vocab(tokenizer: &Tokenizer, vocabulary: usize) -> Vocab {
    let mut vocab = Vocab {
        bytes: Vec::with_capacity(vocabulary),
        special: Vec::with_capacity(vocabulary),
        eos: tokenizer.eog().to_vec(),
    };
    for (_, bytes, special) in tokenizer.vocab_bytes().take(vocabulary) {
        vocab.bytes.push(bytes.to_vec());
        vocab.special.push(special);
    }
    vocab.bytes.resize(vocabulary, Vec::new());
    vocab.special.resize(vocabulary, true);
    vocab.eos.retain(|id| (*id as usize) < vocabulary);
    vocab
}

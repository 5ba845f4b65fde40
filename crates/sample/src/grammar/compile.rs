//! From a grammar to a parser, on a thread with a deep stack and a deadline.
//!
//! The limits keep a compilation within about 200 MiB and, measured over hostile texts, 16 seconds;
//! that is longer than a request may wait. A compilation cannot be interrupted, so one that overran
//! is left to finish alone; how many may do so at once is bounded.

use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;

use llguidance::Matcher;
use llguidance::api::TopLevelGrammar;

use super::limits::{COMPILE_TIME_MAX, COMPILING_MAX, REASON_BYTES_MAX, STACK_BYTES};
use super::source::{Grammar, Source, invalid};
use super::vocab::{Shared, Trie};
use crate::Error;

/// Compiles `grammar` for the vocabulary of `trie`.
pub(super) fn compile(trie: &Trie, grammar: &Grammar) -> Result<Matcher, Error> {
    let kind = grammar.kind();
    let place = Place::take(&trie.shared)?;
    let source = grammar.source.clone();
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let matcher = Matcher::new(place.0.factory.create_parser(top_level(source)));
        // Nobody listens any more when the time is up.
        let _ = sender.send(matcher);
        drop(place);
    };
    let thread = thread::Builder::new().name("grammar".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(work).map_err(|e| invalid(kind, &format!("no thread to compile it: {e}")))?;
    let matcher = receiver.recv_timeout(COMPILE_TIME_MAX).map_err(|e| match e {
        mpsc::RecvTimeoutError::Timeout => {
            Error::GrammarTime { kind, limit_ms: COMPILE_TIME_MAX.as_millis() as u64 }
        }
        mpsc::RecvTimeoutError::Disconnected => invalid(kind, "its compiler failed"),
    })?;
    match matcher.get_error() {
        Some(reason) => Err(invalid(kind, &shorten(&reason))),
        None => Ok(matcher),
    }
}

fn top_level(source: Source) -> TopLevelGrammar {
    match source {
        Source::JsonSchema(schema) => TopLevelGrammar::from_json_schema(schema),
        Source::Regex(text) => TopLevelGrammar::from_regex(&text),
        Source::Lark(text) => TopLevelGrammar::from_lark(text),
    }
}

/// One of the places for compilations; free again when dropped.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: &Arc<Shared>) -> Result<Place, Error> {
        let place = Place(shared.clone());
        let running = shared.compiling.fetch_add(1, Ordering::AcqRel);
        if running >= COMPILING_MAX { Err(Error::GrammarBusy { running }) } else { Ok(place) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.compiling.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A reason without the parser's dump. Of a long one both ends stay: the compiler quotes the source
/// first and says last what is wrong with it.
pub(super) fn shorten(reason: &str) -> String {
    let cut = ["\n<state>", "\n<non-verbose/>", "\n<backtrace>"];
    let ends = cut.iter().filter_map(|mark| reason.find(mark));
    let reason = reason[..ends.min().unwrap_or(reason.len())].trim();
    if reason.len() <= REASON_BYTES_MAX {
        return reason.to_owned();
    }
    let half = REASON_BYTES_MAX / 2;
    let head = &reason[..reason.floor_char_boundary(half)];
    let tail = &reason[reason.ceil_char_boundary(reason.len() - half)..];
    format!("{head} … {tail}")
}

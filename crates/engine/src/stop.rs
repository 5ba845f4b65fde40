//! Stop strings: text is held back while it may turn out to be the start of one.

/// The text of a sequence on its way out.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopText {
    stops: Vec<String>,
    held: String,
}

impl StopText {
    pub(crate) fn new(stops: Vec<String>) -> StopText {
        StopText { stops, held: String::new() }
    }

    /// Adds text; gives what is certain now, and whether a stop string has come up (the one that
    /// starts first; it and all after it are dropped).
    pub(crate) fn push(&mut self, text: &str) -> (String, bool) {
        self.held.push_str(text);
        let found = self.stops.iter().filter_map(|stop| self.held.find(stop.as_str())).min();
        if let Some(at) = found {
            self.held.truncate(at);
            return (std::mem::take(&mut self.held), true);
        }
        let keep = self.stops.iter().map(|stop| overlap(&self.held, stop)).max().unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - keep);
        (std::mem::replace(&mut self.held, rest), false)
    }

    /// The text held back, at the end.
    pub(crate) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// Bytes of the longest end of `text` that `stop` starts with and goes beyond.
fn overlap(text: &str, stop: &str) -> usize {
    let starts = text.char_indices().map(|(at, _)| at);
    let ends = starts.filter(|at| text.len() - at < stop.len());
    ends.map(|at| &text[at..]).find(|end| stop.starts_with(end)).map_or(0, str::len)
}

#[cfg(test)]
#[path = "stop_tests.rs"]
mod tests;

//! What came of an input, roughly: the driver's stand-in for coverage.

use std::fmt::{self, Debug};

/// Two inputs with different outcomes took different ways; the driver keeps one input of each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Outcome(String);

impl Outcome {
    /// An error by its words: numbers and quoted texts come from the input.
    pub(crate) fn error(error: &impl Debug) -> Outcome {
        let text = format!("{error:?}").replace("\\\"", "");
        Outcome::words(text.split('"').step_by(2))
    }

    /// The words of some texts.
    pub(crate) fn words<'t>(texts: impl IntoIterator<Item = &'t str>) -> Outcome {
        let words =
            texts.into_iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphabetic()));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        Outcome(words.join(" "))
    }

    /// A success by the sizes of what was made, to the nearest power of two.
    pub(crate) fn sizes(sizes: &[usize]) -> Outcome {
        let sizes: Vec<usize> = sizes.iter().map(|size| size.next_power_of_two()).collect();
        Outcome(format!("{sizes:?}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

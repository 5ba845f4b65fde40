//! What is printed.

use super::{ALL, WRITE, flags};
use crate::flags::{Flag, Kind, Theme, Verb};

const OUTPUT_THEME: (Theme, &[Verb]) = (Theme::Output, WRITE);

flags! { OUTPUT_ROWS:
    JSON = Flag::new("json", (Theme::Output, WITH_JSON), Kind::Switch("no-json"), "false",
        "Print JSON");
    LOGPROBS = Flag::new("logprobs", (Theme::Output, &[Verb::Run]), Kind::Integer(0, 100), "0",
        "With --json: the k most probable tokens at each place");
    SHOW_SPECIAL = Flag::new("show-special", OUTPUT_THEME, Kind::Switch("no-show-special"), "false",
        "Print control tokens by name").alias(&["special"]).dashed(&["sp"]);
    TIMINGS = Flag::new("timings", OUTPUT_THEME, Kind::Switch("no-timings"), "true",
        "Print the closing line: speeds and the fingerprint of the numbers").alias(&["perf"])
        .off("Leave out the closing line: speeds and the fingerprint of the numbers")
        .more("The fingerprint is a hash of every row of logits that a token was chosen from: \
               where two runs have the same one, they computed the same numbers, bit for bit. On a \
               GPU, which chooses tokens without giving its logits, only --json has it.");
    PROFILE = Flag::new("profile", (Theme::Output, MEASURED), Kind::Switch("no-profile"), "false",
        "Print calls, time, bytes and speed of every op");
    TRACE = Flag::new("trace", (Theme::Output, &[Verb::Run, Verb::Score]), Kind::Path("DIR"), "",
        "Write the output of every node for the prompt into a folder");
    VERBOSE = Flag::new("verbose", (Theme::Output, ALL), Kind::Switch("no-verbose"), "false",
        "Say what happens on the way").short('v');
    LOG = Flag::new("log", (Theme::Output, ALL), Kind::Text("FILTER"), "",
        "Events to show on standard error, as a filter of tracing: minfer_engine=trace");
    COLOR = Flag::new("color", (Theme::Output, ALL),
        Kind::Choice(&["auto", "always", "never"]), "auto",
        "Colour on standard error; auto where it is a terminal and NO_COLOR is not set");
}

const MEASURED: &[Verb] = &[Verb::Run, Verb::Chat, Verb::Perplexity, Verb::Bench];
const WITH_JSON: &[Verb] = &[
    Verb::Run,
    Verb::Score,
    Verb::Perplexity,
    Verb::Tokenize,
    Verb::Inspect,
    Verb::Explain,
    Verb::Trace,
    Verb::Devices,
    Verb::List,
    Verb::Config,
    Verb::Version,
];

//! What the model is asked, and how much it may answer.

use super::{WRITE, flags};
use crate::flags::{Flag, Kind, Theme, Verb};

const PROMPT_THEME: (Theme, &[Verb]) = (Theme::Prompt, WRITE);
const RUN: (Theme, &[Verb]) = (Theme::Prompt, &[Verb::Run]);
const READ: &[Verb] = &[Verb::Run, Verb::Score, Verb::Perplexity, Verb::Tokenize];
const LENGTH: (Theme, &[Verb]) = (Theme::Length, WRITE);

flags! { PROMPT_ROWS:
    PROMPT = Flag::new("prompt", RUN, Kind::Text("TEXT"), "",
        "The prompt, when it is not an argument").short('p');
    FILE = Flag::new("file", (Theme::Prompt, READ),
        Kind::Path("FILE"), "", "Read the text from a file; - for standard input").short('f');
    ESCAPE = Flag::new("escape", RUN, Kind::Switch("no-escape"), "false",
        "Read \\n, \\t, \\\" and \\\\ in the prompt as what they stand for").short('e');
    SYSTEM_PROMPT = Flag::new("system-prompt", PROMPT_THEME, Kind::Text("TEXT"), "",
        "What the model is told before the conversation").alias(&["system"]).dashed(&["sys"]);
    MESSAGES = Flag::new("messages", RUN, Kind::Path("FILE"), "",
        "Read the conversation from a JSON list of {\"role\", \"content\"}; - for standard input");
    TOOLS = Flag::new("tools", RUN, Kind::Path("FILE"), "",
        "Offer tools to the template: a JSON list as in the OpenAI API");
    RAW = Flag::new("raw", RUN, Kind::Switch("no-raw"), "false",
        "Continue the prompt as it is, without the model's chat template")
        .alias(&["no-conversation"]).dashed(&["no-cnv"]);
    RENDER = Flag::new("render", RUN, Kind::Switch("no-render"), "false",
        "Print the rendered prompt and end");
    CHAT_TEMPLATE = Flag::new("chat-template", PROMPT_THEME, Kind::Text("JINJA"), "",
        "Template to use in place of the model's; `chatml` for the generic one");
    CHAT_TEMPLATE_FILE = Flag::new("chat-template-file", PROMPT_THEME, Kind::Path("FILE"), "",
        "Read the template from a file").llama_env("LLAMA_ARG_CHAT_TEMPLATE_FILE");
    CHAT_TEMPLATE_KWARGS = Flag::new("chat-template-kwargs", PROMPT_THEME, Kind::Text("JSON"), "",
        "Further variables of the template, such as {\"enable_thinking\": false}");
    SINGLE_TURN = Flag::new("single-turn", (Theme::Prompt, &[Verb::Chat]),
        Kind::Switch("no-single-turn"), "false",
        "End after one answer").dashed(&["st"]);
    HISTORY = Flag::new("history", (Theme::Prompt, &[Verb::Chat]), Kind::Path("FILE"), "",
        "Keep the lines that are typed in a file; the arrow keys bring them back another time")
        .more("Without it they are forgotten when the conversation ends. What comes from a file or \
               a pipe is never kept.");

    PREDICT = Flag::new("predict", LENGTH, Kind::Integer(-1, 16 << 20), "-1",
        "Tokens to write at most; -1 until the model ends or the context is full")
        .short('n').alias(&["n-predict", "max-tokens"]).llama_env("LLAMA_ARG_N_PREDICT");
    STOP = Flag::new("stop", LENGTH, Kind::List("TEXT"), "",
        "End before this text; may be repeated").short('r').alias(&["reverse-prompt"]);
    IGNORE_EOS = Flag::new("ignore-eos", LENGTH, Kind::Switch("no-ignore-eos"), "false",
        "Never choose an end token");
    TIMEOUT = Flag::new("timeout", LENGTH, Kind::Number(0.0, 1e6), "0",
        "End a generation after so many seconds; 0 for no limit");
}

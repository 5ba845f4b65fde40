//! From settings to a prompt: text or messages, through a template or not, to token ids.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use minfer_chat::{
    ControlTexts, Limits, Message, Rendered, Request, SpecialTokens, Template, Tool,
};
use minfer_engine::{Engine, Piece};
use serde_json::{Map, Value};

use crate::clock;
use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::{Flag, table};
use crate::output;

/// Longest text that is read from a file or standard input.
const BYTES_MAX: u64 = 256 << 20;
/// Time that standard input may take to begin, where there is a prompt without it.
const BEGIN_MAX: Duration = Duration::from_secs(3);
/// Time that a template may take.
const RENDER_MAX: Duration = Duration::from_millis(250);

/// Reads a text file; `-` is standard input.
///
/// # Errors
/// It cannot be read, is not UTF-8, or is too long.
pub fn read_file(path: &Path) -> Result<String> {
    let is_input = path.as_os_str() == "-";
    let name = if is_input { "standard input".into() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    let read = if is_input {
        std::io::stdin().lock().take(BYTES_MAX + 1).read_to_end(&mut bytes)
    } else if path.is_dir() {
        return Err(usage(format!("{name}: expected a text file, found a folder")));
    } else {
        std::fs::File::open(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(usage(format!("{name}: expected a text file, found no such file")));
        }
        result => result.with_context(|| format!("reading {name}"))?,
    };
    ensure!(bytes.len() as u64 <= BYTES_MAX, "{name}: expected at most {BYTES_MAX} bytes of text");
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow!("{name}: expected UTF-8 text, found other bytes at offset {at}")
    })
}

/// The text of a command that has one: the argument, a file, or standard input when that is not a
/// terminal.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn text(settings: &Settings, positional: &str) -> Result<String> {
    if let Some(text) = typed(settings, positional) {
        return Ok(text);
    }
    if let Some(path) = settings.path(&table::FILE) {
        return read_file(&path);
    }
    let none = || {
        let argument =
            if positional.is_empty() { String::new() } else { format!("as {positional}, ") };
        let talk = match positional {
            "PROMPT" => "; `minfer chat` talks in many turns",
            _other => "",
        };
        usage(format!("no text: give it {argument}with -f FILE, or on standard input{talk}"))
    };
    if std::io::stdin().is_terminal() {
        return Err(none());
    }
    let text = read_file(Path::new("-"))?;
    if text.is_empty() { Err(none()) } else { Ok(text) }
}

/// The text that is an argument or a setting.
fn typed(settings: &Settings, positional: &str) -> Option<String> {
    match settings.positional(positional) {
        [] => settings.text(&table::PROMPT).map(str::to_owned),
        words => Some(words.join(" ")),
    }
}

/// What is on standard input beside a prompt: all of a file or a pipe, nothing of a terminal. A
/// pipe may stay open for as long as whoever started the command lives, so that one on which
/// nothing comes is left.
fn beside() -> Result<Option<String>> {
    if std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let (begun, begins) = mpsc::channel();
    thread::spawn(move || {
        // Nothing is taken out of the buffer. An error comes again to the one who reads.
        let _ = std::io::stdin().lock().fill_buf();
        let _ = begun.send(());
    });
    if begins.recv_timeout(BEGIN_MAX).is_err() {
        output::note(&format!(
            "warning: on standard input nothing came for {} s and it has not ended: it is left \
             out (`< /dev/null` spares the wait)",
            BEGIN_MAX.as_secs()
        ));
        return Ok(None);
    }
    let text = read_file(Path::new("-"))?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// The prompt of `run`, for a model.
///
/// # Errors
/// No prompt, or one that cannot be read or rendered.
pub fn of_run(settings: &Settings, engine: &Engine) -> Result<Rendered> {
    if let Some(path) = settings.path(&table::MESSAGES) {
        let messages =
            messages(&read_file(&path)?).with_context(|| format!("reading {}", path.display()))?;
        return Chat::new(settings, engine)?.render(messages);
    }
    let mut text = text(settings, "PROMPT")?;
    if settings.on(&table::ESCAPE) {
        text = unescape(&text);
    }
    if typed(settings, "PROMPT").is_some()
        && !FILES.iter().any(|flag| settings.text(flag) == Some("-"))
        && let Some(more) = beside()?
    {
        let gap = if text.is_empty() { "" } else { "\n\n" };
        text += &format!("{gap}{more}");
    }
    // The newline that ends a file or a pipe is not part of what was asked.
    let asked = text.strip_suffix('\n').unwrap_or(&text);
    if asked.is_empty() {
        return Err(usage(
            "the prompt is empty: give it as PROMPT, with -f FILE, or on standard input",
        ));
    }
    if settings.on(&table::RAW) {
        return Ok(Rendered { pieces: vec![minfer_chat::Piece { text, trusted: true }] });
    }
    let chat = Chat::new(settings, engine)?;
    let question = Message::new("user", asked);
    chat.render(chat.system().into_iter().chain([question]).collect())
}

/// Rows that `-` may give standard input to.
static FILES: &[&Flag] =
    &[&table::TOOLS, &table::CHAT_TEMPLATE_FILE, &table::JSON_SCHEMA_FILE, &table::GRAMMAR_FILE];

/// A list of tools as JSON.
fn tools(text: &str) -> Result<Vec<Tool>> {
    let expected = "expected a JSON list of tools, such as [{\"type\": \"function\", \"function\": \
                    {\"name\": \"f\", \"parameters\": {}}}]";
    let list: Vec<Tool> = serde_json::from_str(text).context(expected)?;
    for tool in &list {
        ensure!(tool.is_object(), "{expected}, found {tool} in it");
        if tool.get("role").is_some() && tool.get("function").is_none() {
            return Err(usage(format!(
                "{expected}, found a message: a conversation goes with --messages"
            )));
        }
    }
    Ok(list)
}

/// A list of messages as JSON.
///
/// # Errors
/// It is something else.
pub fn messages(text: &str) -> Result<Vec<Message>> {
    let expected =
        "expected a JSON list of messages, such as [{\"role\": \"user\", \"content\": \"Hi\"}]";
    let list: Vec<Map<String, Value>> = serde_json::from_str(text).context(expected)?;
    ensure!(!list.is_empty(), "{expected}, found an empty list");
    Ok(list.into_iter().map(Message::from_fields).collect())
}

/// Escapes of a prompt that was typed; others stay as they are.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some(same @ ('"' | '\'' | '\\')) => out.push(same),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

/// A model's template and what it needs.
#[derive(Debug)]
pub struct Chat {
    template: Template,
    control: ControlTexts,
    system: Option<String>,
    tools: Option<Vec<Tool>>,
    arguments: Map<String, Value>,
}

impl Chat {
    /// The template that the settings or the file name, the generic one where there is none.
    ///
    /// # Errors
    /// A template that does not parse, or JSON that is none.
    pub fn new(settings: &Settings, engine: &Engine) -> Result<Chat> {
        let tokenizer = engine.tokenizer();
        let name =
            |id: Option<u32>| Some(String::from_utf8_lossy(tokenizer.text(id?)?).into_owned());
        let tokens = SpecialTokens {
            bos: name(tokenizer.bos()),
            eos: name(tokenizer.eos()),
            ..SpecialTokens::default()
        };
        let given = match settings.path(&table::CHAT_TEMPLATE_FILE) {
            Some(path) => Some(read_file(&path)?),
            None => settings.text(&table::CHAT_TEMPLATE).map(str::to_owned),
        };
        let raw =
            if settings.source(&table::RAW).is_some() { "--raw" } else { "`minfer run --raw`" };
        let template = match given.as_deref() {
            Some("chatml") => Template::chatml(),
            Some(source) => Template::new(source, tokens).context("reading the chat template")?,
            None => match engine.metadata().str("tokenizer.chat_template")? {
                Some(source) => Template::new(source, tokens).with_context(|| {
                    format!(
                        "reading the model's chat template ({raw} goes without, --chat-template \
                         takes another)"
                    )
                })?,
                None => {
                    // Often a base model, which no template makes talk.
                    output::note(&format!(
                        "hint: the model brings no chat template, ChatML is used; {raw} continues \
                         a text without one"
                    ));
                    Template::chatml()
                }
            },
        };
        let tools = match settings.path(&table::TOOLS) {
            Some(path) => {
                let list = tools(&read_file(&path)?);
                Some(list.with_context(|| format!("reading {}", path.display()))?)
            }
            None => None,
        };
        let arguments = match settings.text(&table::CHAT_TEMPLATE_KWARGS) {
            Some(text) => serde_json::from_str(text).map_err(|error| {
                usage(format!("--chat-template-kwargs: expected a JSON object: {error}"))
            })?,
            None => Map::new(),
        };
        let control = ControlTexts::new(tokenizer.control_texts());
        let system = settings.text(&table::SYSTEM_PROMPT).map(str::to_owned);
        Ok(Chat { template, control, system, tools, arguments })
    }

    /// The message that the settings put before a conversation.
    pub fn system(&self) -> Option<Message> {
        self.system.as_ref().map(|text| Message::new("system", text))
    }

    /// The prompt that a conversation makes.
    ///
    /// # Errors
    /// The template refuses it, or takes too long.
    pub fn render(&self, messages: Vec<Message>) -> Result<Rendered> {
        let request = Request {
            messages,
            tools: self.tools.clone(),
            add_generation_prompt: true,
            arguments: self.arguments.clone(),
            now: clock::time_of_day(),
        };
        let render = |request: &Request| {
            let start = Instant::now();
            let limits = Limits::default().with_deadline(move || start.elapsed() > RENDER_MAX);
            self.template.render(request, &limits, &self.control)
        };
        let rendered = render(&request).context("rendering the chat template")?;
        if request.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
            let without = render(&Request { tools: None, ..request });
            if without.is_ok_and(|without| without.text() == rendered.text()) {
                output::note(
                    "warning: --tools has no effect: the chat template has no place for tools, \
                     the model does not see them",
                );
            }
        }
        Ok(rendered)
    }
}

/// The token ids of a prompt.
///
/// # Errors
/// The vocabulary cannot write it.
pub fn encode(engine: &mut Engine, prompt: &Rendered) -> Result<Vec<u32>> {
    let pieces: Vec<Piece<'_>> = prompt
        .pieces
        .iter()
        .map(|piece| Piece { text: &piece.text, trusted: piece.trusted })
        .collect();
    Ok(engine.encode(&pieces)?)
}

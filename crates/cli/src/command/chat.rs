//! `minfer chat`: a conversation, line by line.
//!
//! Lines come from standard input and answers go to standard output, so that a conversation can be
//! piped; remarks go to standard error.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use minfer_chat::Message;
use minfer_engine::{Engine, FinishReason};

use super::line::{Line, Lines};
use super::prompt::{self, Chat};
use super::report::{self, Traffic};
use super::{answer, load, sampling};
use crate::failure::{Interrupted, status};
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::interrupt;
use crate::output::{self, Style};

const HELP: &str = "\
/help          this list
/clear         forget the conversation
/regen         answer the last message again
/system TEXT   change what the model is told before the conversation, and begin anew
/save FILE     write the conversation as JSON
/load FILE     go on with a conversation from JSON
/exit          end, as /bye and /quit do (so does Ctrl-D, the end of input)
A line that ends in a backslash goes on in the next one. Ctrl-C stops an answer.";

/// The command.
///
/// # Errors
/// No model, or an engine that fails for good.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    sampling::grammar(settings)?;
    let engine = load::engine(settings, style)?;
    let chat = Chat::new(settings, &engine)?;
    let mut lines = Lines::new(settings, style)?;
    let mut session = Session {
        traffic: Traffic::of(&engine),
        messages: chat.system().into_iter().collect(),
        engine,
        chat,
        settings,
        style,
    };
    if lines.interactive {
        output::note(&style.dim("/help shows the commands, Ctrl-D ends"));
    }
    let mut was_interrupted = false;
    loop {
        let line = lines.next()?;
        match line {
            Line::End => return Ok(()),
            Line::Interrupted if was_interrupted => return Err(Interrupted.into()),
            Line::Interrupted => output::note(interrupt::WAY_OUT),
            Line::Refused(ref why) => output::note(&format!("error: the line is left out: {why}")),
            Line::Text(ref text) => {
                if !session.take(text.trim(), lines.interactive)? {
                    return Ok(());
                }
            }
        }
        was_interrupted = line == Line::Interrupted;
    }
}

/// A conversation with a model.
struct Session<'s> {
    engine: Engine,
    chat: Chat,
    messages: Vec<Message>,
    traffic: Traffic,
    settings: &'s Settings,
    style: Style,
}

impl Session<'_> {
    /// Takes a line in; false where it ends the conversation.
    fn take(&mut self, line: &str, interactive: bool) -> Result<bool> {
        let result = match line.strip_prefix('/') {
            _ if line.is_empty() => return Ok(true),
            Some("exit" | "quit" | "bye") => return Ok(false),
            Some(command) => self.command(command),
            None => self.say(line),
        };
        match result {
            // A message that fails is told; the conversation goes on.
            Err(error) if matches!(status(&error), Some(1 | 2)) && interactive => {
                output::note(&format!("error: {error:#}"));
            }
            result => result?,
        }
        Ok(line.starts_with('/') || !self.settings.on(&table::SINGLE_TURN))
    }

    /// Takes a message in and answers it. A message that cannot be answered is not kept.
    fn say(&mut self, text: &str) -> Result<()> {
        self.messages.push(Message::new("user", text));
        let result = self.answer();
        if result.is_err() {
            self.messages.pop();
        }
        result
    }

    /// Answers the conversation so far; what an interrupt left of an answer is kept.
    fn answer(&mut self) -> Result<()> {
        let rendered = self.chat.render(self.messages.clone())?;
        let ids = prompt::encode(&mut self.engine, &rendered)?;
        let (tokens, context) = (ids.len(), self.engine.context());
        ensure!(
            tokens <= context,
            "the conversation has {tokens} tokens, the context {context} positions: /clear begins \
             a new one, -c {} or more makes room for this one",
            tokens + 1
        );
        let request = answer::request(self.settings, &self.engine, ids)?;
        let answer = answer::generate(&mut self.engine, request, &mut output::print)?;
        output::print("\n")?;
        if self.settings.on(&table::TIMINGS) {
            output::note(&self.style.dim(&report::closing_line(&answer, self.traffic)));
        }
        if self.settings.on(&table::PROFILE) {
            output::note(&report::profile(&self.engine));
        }
        answer::remark(&answer, &self.engine);
        if answer.completion.reason == FinishReason::ContextFull {
            output::note("hint: /clear begins a new conversation");
        }
        self.messages.push(Message::new("assistant", answer.completion.text.trim_end()));
        Ok(())
    }

    fn command(&mut self, command: &str) -> Result<()> {
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        match (name, rest) {
            ("help" | "?", _) => output::note(HELP),
            ("clear", _) => self.begin(self.chat.system()),
            ("system", text) => self.begin(
                Some(text).filter(|text| !text.is_empty()).map(|text| Message::new("system", text)),
            ),
            ("regen", _) => return self.again(),
            ("save" | "load", "") => output::note(&format!("/{name} FILE")),
            ("save", path) => self.save(path.as_ref())?,
            ("load", path) => self.load(path.as_ref())?,
            (other, _) => output::note(&format!("no command /{other}; /help shows them")),
        }
        Ok(())
    }

    fn begin(&mut self, system: Option<Message>) {
        self.messages = system.into_iter().collect();
        output::note("a new conversation");
    }

    /// Answers the last message of the user's again.
    fn again(&mut self) -> Result<()> {
        let Some(last) = self.messages.iter().rposition(|message| message.role() == "user") else {
            output::note("nothing to answer yet");
            return Ok(());
        };
        self.messages.truncate(last + 1);
        self.answer()
    }

    fn save(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.messages)?;
        fs::write(path, text + "\n").with_context(|| format!("writing {}", path.display()))?;
        output::note(&format!("{} messages written", self.messages.len()));
        Ok(())
    }

    fn load(&mut self, path: &Path) -> Result<()> {
        let messages = prompt::messages(&prompt::read_file(path)?)
            .with_context(|| format!("reading {}", path.display()))?;
        self.messages = messages;
        output::note(&format!("{} messages read", self.messages.len()));
        Ok(())
    }
}

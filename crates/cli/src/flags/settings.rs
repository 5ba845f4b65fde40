//! Every setting of a command with its value and where that came from.

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::value::Value;
use super::{Flag, Kind, Verb, config_file, table};
use crate::failure::usage;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nowhere: the table's default.
    Default,
    /// What the catalog says of the model that is named.
    Catalog(&'static str),
    /// A line of the configuration file.
    File(PathBuf, usize),
    /// An environment variable.
    Environment(String),
    /// The command line.
    CommandLine,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::Catalog(model) => write!(f, "recommended for {model}"),
            Source::File(path, line) => write!(f, "{}:{line}", path.display()),
            Source::Environment(name) => write!(f, "${name}"),
            Source::CommandLine => f.write_str("command line"),
        }
    }
}

/// One setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its row.
    pub flag: &'static Flag,
    /// `None` where nothing is given and there is no default.
    pub value: Option<Value>,
    /// Where it came from.
    pub source: Source,
}

/// All settings of a command, and its arguments without a name.
#[derive(Debug, Default)]
pub struct Settings {
    settings: Vec<Setting>,
    positionals: Vec<(&'static str, Vec<String>)>,
    /// Things to tell the user, such as names that have a better spelling.
    pub hints: Vec<String>,
}

impl Settings {
    /// Puts together what command line, environment, file and table say, for the rows of `verb`
    /// (all rows for `config`).
    ///
    /// # Errors
    /// A value that its row does not allow, or a file that cannot be read.
    pub fn resolve(verb: Verb, matches: &ArgMatches) -> Result<Settings> {
        let mut settings = Settings::default();
        // Commands without flags, such as those that print completions, need no configuration.
        let configured = table::CONFIG_FILE.applies_to(verb);
        let lines = if configured { settings.read_file(matches)? } else { Vec::new() };
        let wanted = |flag: &&'static Flag| verb == Verb::Config || flag.applies_to(verb);
        for flag in table::rows().filter(wanted) {
            let on_line = if flag.applies_to(verb) { typed(flag, matches) } else { None };
            let (texts, source) = match on_line {
                Some(texts) => (Some(texts), Source::CommandLine),
                None => match settings.environment(flag) {
                    Some((name, text)) => (Some(vec![text]), Source::Environment(name)),
                    None => {
                        match lines.iter().rev().find(|(line, _)| std::ptr::eq(line.flag, flag)) {
                            Some((line, path)) => {
                                (Some(line.values.clone()), Source::File(path.clone(), line.number))
                            }
                            None => (None, Source::Default),
                        }
                    }
                },
            };
            let value = match (&texts, flag.default) {
                (None, "") if !matches!(flag.kind, Kind::List(_)) => None,
                (None, "") => Some(Value::List(Vec::new())),
                (None, default) => Some(read(flag, &[default.to_owned()], &source)?),
                (Some(texts), _) => Some(read(flag, texts, &source)?),
            };
            settings.settings.push(Setting { flag, value, source });
        }
        Ok(settings)
    }

    /// Takes the values of an argument without a name.
    pub fn take_positional(&mut self, name: &'static str, matches: &ArgMatches) {
        let values = matches.get_many::<String>(name).into_iter().flatten().cloned().collect();
        self.positionals.push((name, values));
    }

    /// Takes recommended values over for what nothing else was said of.
    ///
    /// # Errors
    /// A value is none of its row.
    pub fn recommend(
        &mut self,
        model: &'static str,
        values: &[(&'static Flag, &'static str)],
    ) -> Result<()> {
        for setting in &mut self.settings {
            let found = values.iter().find(|(flag, _)| std::ptr::eq(*flag, setting.flag));
            if let (Some((flag, text)), Source::Default) = (found, &setting.source) {
                let source = Source::Catalog(model);
                setting.value = Some(read(flag, &[(*text).to_owned()], &source)?);
                setting.source = source;
                tracing::debug!(flag = flag.name, value = text, "{}", setting.source);
            }
        }
        Ok(())
    }

    fn read_file(&self, matches: &ArgMatches) -> Result<Vec<(config_file::Line, PathBuf)>> {
        let flag = &table::CONFIG_FILE;
        let named = typed(flag, matches)
            .and_then(|texts| texts.into_iter().last())
            .or_else(|| variable(&flag.env()));
        let path = match named {
            Some(path) => PathBuf::from(path),
            None => match config_file::default_path().filter(|path| path.exists()) {
                Some(path) => path,
                None => return Ok(Vec::new()),
            },
        };
        let lines = config_file::read(&path)
            .map_err(|error| usage(format!("configuration file {}: {error}", path.display())))?;
        Ok(lines.into_iter().map(|line| (line, path.clone())).collect())
    }

    fn environment(&mut self, flag: &Flag) -> Option<(String, String)> {
        let name = flag.env();
        if let Some(value) = variable(&name) {
            return Some((name, value));
        }
        let theirs = flag.llama_env?;
        let value = variable(theirs)?;
        self.hints.push(format!("{theirs} is read; its name here is {name}"));
        Some((theirs.to_owned(), value))
    }

    /// All settings, in the table's order.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter()
    }

    /// The values of an argument without a name.
    pub fn positional(&self, name: &str) -> &[String] {
        let found = self.positionals.iter().find(|(known, _)| *known == name);
        found.map(|(_, values)| values.as_slice()).unwrap_or_default()
    }

    fn setting(&self, flag: &'static Flag) -> Option<&Setting> {
        self.settings.iter().find(|setting| std::ptr::eq(setting.flag, flag))
    }

    fn value(&self, flag: &'static Flag) -> Option<&Value> {
        self.setting(flag)?.value.as_ref()
    }

    /// Whether anything but the table says something of a row.
    pub fn is_given(&self, flag: &'static Flag) -> bool {
        self.setting(flag).is_some_and(|setting| setting.source != Source::Default)
    }

    /// A switch; false for a row that the command does not have.
    pub fn on(&self, flag: &'static Flag) -> bool {
        matches!(self.value(flag), Some(Value::Bool(true)))
    }

    /// An integer; 0 for a row that the command does not have.
    pub fn integer(&self, flag: &'static Flag) -> i64 {
        match self.value(flag) {
            Some(Value::Integer(value)) => *value,
            _other => 0,
        }
    }

    /// An integer row whose range holds no negative number.
    pub fn count(&self, flag: &'static Flag) -> usize {
        usize::try_from(self.integer(flag)).unwrap_or(0)
    }

    /// A count, with 0 for "not given".
    pub fn some_count(&self, flag: &'static Flag) -> Option<usize> {
        Some(self.count(flag)).filter(|count| *count > 0)
    }

    /// A number; 0 for a row that the command does not have.
    pub fn number(&self, flag: &'static Flag) -> f64 {
        match self.value(flag) {
            Some(Value::Number(value)) => *value,
            _other => 0.0,
        }
    }

    /// A text, path or choice.
    pub fn text(&self, flag: &'static Flag) -> Option<&str> {
        match self.value(flag) {
            Some(Value::Text(value)) => Some(value),
            _other => None,
        }
    }

    /// A path.
    pub fn path(&self, flag: &'static Flag) -> Option<PathBuf> {
        self.text(flag).map(PathBuf::from)
    }

    /// The items of a list.
    pub fn list(&self, flag: &'static Flag) -> &[String] {
        match self.value(flag) {
            Some(Value::List(items)) => items,
            _other => &[],
        }
    }
}

/// What the command line says of a row; the last word counts between a switch and its opposite.
fn typed(flag: &Flag, matches: &ArgMatches) -> Option<Vec<String>> {
    let given = |name: &str| {
        let known = matches.try_contains_id(name).ok();
        let source = known.and_then(|_| matches.value_source(name));
        source == Some(ValueSource::CommandLine)
    };
    let last = |name: &str| matches.indices_of(name).and_then(Iterator::max).unwrap_or(0);
    if let Kind::Switch(no) = flag.kind
        && given(no)
        && (!given(flag.name) || last(no) > last(flag.name))
    {
        return Some(vec!["false".into()]);
    }
    if !given(flag.name) {
        return None;
    }
    Some(matches.get_many::<String>(flag.name)?.cloned().collect())
}

fn read(flag: &'static Flag, texts: &[String], source: &Source) -> Result<Value> {
    let found = texts.last().map(String::as_str).unwrap_or_default();
    let name = match source {
        Source::CommandLine | Source::Default => format!("--{}", flag.name),
        Source::Environment(_) => source.to_string(),
        Source::Catalog(_) | Source::File(..) => format!("{source}: {}", flag.name),
    };
    flag.parse(texts).map_err(|expected| usage(format!("{name} {found:?}: {expected}")))
}

/// An environment variable that is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

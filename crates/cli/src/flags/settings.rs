//! Every setting of a command with its value and where that came from.

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::row::{ENV_PREFIX, in_capitals};
use super::value::Value;
use super::{Flag, Kind, Verb, config_file, nearest, table};
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

impl Source {
    /// How near a source is: a larger number counts before a smaller one.
    pub fn rank(&self) -> u8 {
        match self {
            Source::Default => 0,
            Source::Catalog(_) => 1,
            Source::File(..) => 2,
            Source::Environment(_) => 3,
            Source::CommandLine => 4,
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

impl Setting {
    /// What the table alone says.
    fn default_of(flag: &'static Flag) -> Result<Setting> {
        let source = Source::Default;
        let value = match flag.default {
            "" if matches!(flag.kind, Kind::List(_)) => Some(Value::List(Vec::new())),
            "" => None,
            default => Some(read(flag, &[default.to_owned()], &source)?),
        };
        Ok(Setting { flag, value, source })
    }

    /// Whether neither a source nor the table gives a value.
    pub fn is_unset(&self) -> bool {
        let empty = |value: &Value| matches!(value, Value::List(items) if items.is_empty());
        self.source == Source::Default && self.value.as_ref().is_none_or(empty)
    }
}

/// All settings of a command, and its arguments without a name.
#[derive(Debug, Default)]
pub struct Settings {
    settings: Vec<Setting>,
    positionals: Vec<(&'static str, Vec<String>)>,
    /// Things to tell the user, such as names that have a better spelling.
    pub hints: Vec<String>,
    /// What is wrong with environment and file and does not end the command.
    pub faults: Vec<String>,
    lenient: bool,
}

impl Settings {
    /// Puts together what command line, environment, file and table say, for the rows of `verb`
    /// (all rows for `config`, which shows what is wrong with a source instead of failing, as
    /// `version` does).
    ///
    /// # Errors
    /// A value that its row does not allow, or a file that cannot be read.
    pub fn resolve(verb: Verb, matches: &ArgMatches) -> Result<Settings> {
        let lenient = [Verb::Config, Verb::Version].contains(&verb);
        let mut settings = Settings { lenient, ..Settings::default() };
        // Commands without flags, such as those that print completions, need no configuration.
        let configured = table::CONFIG_FILE.applies_to(verb);
        let lines = if configured { settings.read_file(matches)? } else { Vec::new() };
        let wanted = |flag: &&'static Flag| verb == Verb::Config || flag.applies_to(verb);
        for flag in table::rows().filter(wanted) {
            let on_line = if flag.applies_to(verb) { typed(flag, matches) } else { None };
            let said = match on_line {
                Some(texts) => Some((texts, Source::CommandLine)),
                None => settings.said_elsewhere(flag, &lines),
            };
            let setting = match said.map(|(texts, source)| (read(flag, &texts, &source), source)) {
                None => Setting::default_of(flag)?,
                Some((Ok(value), source)) => Setting { flag, value: Some(value), source },
                Some((Err(error), Source::CommandLine)) => return Err(error),
                Some((Err(error), _)) => {
                    settings.fault(error)?;
                    Setting::default_of(flag)?
                }
            };
            settings.settings.push(setting);
        }
        if configured {
            settings.faults.extend(unknown_variables());
        }
        Ok(settings)
    }

    /// What environment and file say of a row.
    fn said_elsewhere(
        &mut self,
        flag: &'static Flag,
        lines: &[(config_file::Line, PathBuf)],
    ) -> Option<(Vec<String>, Source)> {
        if let Some((name, text)) = self.environment(flag) {
            return Some((vec![text], Source::Environment(name)));
        }
        let (line, path) = lines.iter().rev().find(|(line, _)| std::ptr::eq(line.flag, flag))?;
        Some((line.values.clone(), Source::File(path.clone(), line.number)))
    }

    /// Takes note of what is wrong with a source, or fails.
    fn fault(&mut self, error: anyhow::Error) -> Result<()> {
        if !self.lenient {
            return Err(error);
        }
        self.faults.push(format!("{error:#}"));
        Ok(())
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

    fn read_file(&mut self, matches: &ArgMatches) -> Result<Vec<(config_file::Line, PathBuf)>> {
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
        let shown = path.display();
        let contents = match config_file::read(&path) {
            Ok(contents) => contents,
            Err(error) => {
                self.fault(usage(format!("configuration file {shown}: {error}")))?;
                return Ok(Vec::new());
            }
        };
        for fault in contents.faults {
            let config_file::Fault { number, text } = fault;
            self.fault(usage(format!("configuration file {shown}:{number}: {text}")))?;
        }
        Ok(contents.lines.into_iter().map(|line| (line, path.clone())).collect())
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

    /// Whether a row has the value that the table gives it, wherever that came from.
    pub fn is_default(&self, flag: &'static Flag) -> bool {
        let default = Setting::default_of(flag).ok().and_then(|setting| setting.value);
        self.value(flag) == default.as_ref()
    }

    /// Where a row's value came from; `None` for a row that the command does not have.
    pub fn source(&self, flag: &'static Flag) -> Option<&Source> {
        self.setting(flag).map(|setting| &setting.source)
    }

    /// Takes back whatever was said of a row.
    ///
    /// # Errors
    /// The table's default is no value of the row.
    pub fn forget(&mut self, flag: &'static Flag) -> Result<()> {
        for setting in self.settings.iter_mut().filter(|s| std::ptr::eq(s.flag, flag)) {
            *setting = Setting::default_of(flag)?;
        }
        Ok(())
    }

    /// Whether a row is a switch that is off.
    pub fn is_off(&self, flag: &'static Flag) -> bool {
        matches!(self.value(flag), Some(Value::Bool(false)))
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

/// What there is to say of environment variables that look like settings and are none.
fn unknown_variables() -> Vec<String> {
    let mut names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with(ENV_PREFIX))
        .filter(|name| !table::rows().any(|flag| flag.env() == *name))
        .collect();
    names.sort();
    let fault = |name: String| {
        let word = name[ENV_PREFIX.len()..].to_ascii_lowercase().replace('_', "-");
        let meant = match (nearest::opposite(&word), nearest::key(&word)) {
            (Some(flag), _) => format!("{}=false is", flag.env()),
            (None, Some(key)) => format!("did you mean {ENV_PREFIX}{}?", in_capitals(key)),
            (None, None) => "`minfer config --json` shows the variables".to_owned(),
        };
        format!("{name} is no setting: {meant}")
    };
    names.into_iter().map(fault).collect()
}

/// An environment variable that is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

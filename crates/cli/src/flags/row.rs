//! A row of the table: what there is to say of a flag.

/// What names of environment variables begin with.
pub const ENV_PREFIX: &str = "MINFER_";

/// A name as environment variables have it.
pub fn in_capitals(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_")
}

/// What a row's values are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// True or false; the name of the flag that says false.
    Switch(&'static str),
    /// An integer in an inclusive range.
    Integer(i64, i64),
    /// A finite number in an inclusive range.
    Number(f64, f64),
    /// Any text; the name that help gives it.
    Text(&'static str),
    /// The path of a file or folder; the name that help gives it.
    Path(&'static str),
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// Any number of texts: the flag may be repeated; the name that help gives one.
    List(&'static str),
}

/// Where help shows a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Which model, and how its file is read.
    Model,
    /// What the model is asked.
    Prompt,
    /// How much is read and written.
    Length,
    /// Which device, and which numbers.
    Device,
    /// How tokens are chosen.
    Sampling,
    /// What an answer has to look like.
    Grammar,
    /// What one command alone does.
    Task,
    /// What is printed.
    Output,
}

impl Theme {
    /// All, in the order of help texts.
    pub const ALL: &[Theme] = &[
        Theme::Task,
        Theme::Model,
        Theme::Prompt,
        Theme::Length,
        Theme::Device,
        Theme::Sampling,
        Theme::Grammar,
        Theme::Output,
    ];

    /// Heading in help texts.
    pub fn title(self) -> &'static str {
        match self {
            Theme::Model => "Model",
            Theme::Prompt => "Prompt",
            Theme::Length => "Length",
            Theme::Device => "Device",
            Theme::Sampling => "Sampling",
            Theme::Grammar => "Grammar",
            Theme::Task => "Task",
            Theme::Output => "Output",
        }
    }
}

/// The commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// One answer.
    Run,
    /// A conversation.
    Chat,
    /// Log-probabilities of a text.
    Score,
    /// Perplexity of a text.
    Perplexity,
    /// Token ids of a text.
    Tokenize,
    /// What a file holds and how it is run.
    Inspect,
    /// Speed.
    Bench,
    /// Which kernel runs what, and why.
    Explain,
    /// Whether a device computes what it should.
    SelfTest,
    /// Where two traces part.
    Trace,
    /// Devices of this machine.
    Devices,
    /// Fetch a model.
    Pull,
    /// Models at hand.
    List,
    /// Remove a model.
    Rm,
    /// A model of random weights.
    Synth,
    /// Every setting and where it comes from.
    Config,
    /// Completions for a shell.
    Completions,
    /// The man page.
    Man,
    /// Generated pages of the documentation.
    Docs,
    /// The version.
    Version,
}

/// A row of the table.
#[derive(Debug)]
pub struct Flag {
    /// Its one name: long flag, configuration key and, in capitals, environment variable.
    pub name: &'static str,
    /// One letter.
    pub short: Option<char>,
    /// Other long names, llama.cpp's among them.
    pub aliases: &'static [&'static str],
    /// Names of several letters after one dash, as llama.cpp has them (`ngl`).
    pub dashed: &'static [&'static str],
    /// llama.cpp's environment variable.
    pub llama_env: Option<&'static str>,
    /// What values it takes.
    pub kind: Kind,
    /// The value when nothing is given, as one would write it; empty for none.
    pub default: &'static str,
    /// Where help shows it.
    pub theme: Theme,
    /// The commands that have it.
    pub verbs: &'static [Verb],
    /// One line.
    pub help: &'static str,
    /// Of a switch that is on by default: what happens without it, in one line.
    pub off: &'static str,
    /// What else there is to say.
    pub more: &'static str,
}

impl Flag {
    /// A row with what every row has.
    pub const fn new(
        name: &'static str,
        (theme, verbs): (Theme, &'static [Verb]),
        kind: Kind,
        default: &'static str,
        help: &'static str,
    ) -> Flag {
        let (aliases, dashed): (&[&str], &[&str]) = (&[], &[]);
        Flag {
            name,
            short: None,
            aliases,
            dashed,
            llama_env: None,
            kind,
            default,
            theme,
            verbs,
            help,
            off: "",
            more: "",
        }
    }

    /// With a letter.
    pub const fn short(mut self, letter: char) -> Flag {
        self.short = Some(letter);
        self
    }

    /// With other long names.
    pub const fn alias(mut self, names: &'static [&'static str]) -> Flag {
        self.aliases = names;
        self
    }

    /// With names of several letters after one dash.
    pub const fn dashed(mut self, names: &'static [&'static str]) -> Flag {
        self.dashed = names;
        self
    }

    /// With llama.cpp's environment variable.
    pub const fn llama_env(mut self, name: &'static str) -> Flag {
        self.llama_env = Some(name);
        self
    }

    /// With what happens when it is switched off.
    pub const fn off(mut self, text: &'static str) -> Flag {
        self.off = text;
        self
    }

    /// With more to say.
    pub const fn more(mut self, text: &'static str) -> Flag {
        self.more = text;
        self
    }

    /// Whether this is its long name or another long name of it.
    pub fn is_called(&self, long: &str) -> bool {
        self.name == long || self.aliases.contains(&long)
    }

    /// Its environment variable.
    pub fn env(&self) -> String {
        format!("{ENV_PREFIX}{}", in_capitals(self.name))
    }

    /// The shortest way to write it, and the long one: `-hf/--hf-repo`.
    pub fn spelled(&self) -> String {
        let letter = self.short.map(String::from);
        let dashed = self.dashed.iter().copied().find(|name| name.len() < self.name.len());
        match letter.as_deref().or(dashed) {
            Some(short) => format!("-{short}/--{}", self.name),
            None => format!("--{}", self.name),
        }
    }

    /// Whether a command has it.
    pub fn applies_to(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }

    /// What help calls its value.
    pub fn value_name(&self) -> &'static str {
        match self.kind {
            Kind::Switch(_) => "BOOL",
            Kind::Integer(..) => "N",
            Kind::Number(..) => "X",
            Kind::Text(name) | Kind::Path(name) | Kind::List(name) => name,
            Kind::Choice(_) => "WORD",
        }
    }
}

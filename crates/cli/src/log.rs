//! Events of the libraries, as lines for people on standard error.

use std::fmt::{self, Write as _};
use std::io;

use minfer_engine::Clock as _;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use crate::clock::SystemClock;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// Shows events: with `-v`, or as `--log` filters them.
pub fn start(settings: &Settings, style: Style) {
    let filter = match settings.text(&table::LOG) {
        Some(filter) => filter,
        None if settings.on(&table::VERBOSE) => "debug,ureq=info,rustls=info",
        None => return,
    };
    let filter = match EnvFilter::try_new(filter) {
        Ok(filter) => filter,
        Err(error) => {
            output::note(&format!(
                "warning: --log {filter:?}: {error}: no events are shown; a filter is a level, or \
                 TARGET=LEVEL parted by commas, such as minfer_engine=trace"
            ));
            return;
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Lines)
        .event_format(Plain { style })
        .init();
}

/// `1.234 s debug minfer_engine::step: finished: sequence 0, reason stop`.
struct Plain {
    style: Style,
}

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let about = event.metadata();
        let level = about.level().as_str().to_ascii_lowercase();
        let Fields { message, rest } = fields;
        let colon = if message.is_empty() || rest.is_empty() { "" } else { ": " };
        let seconds = SystemClock.now().as_secs_f64();
        let line = format!("{seconds:.3} s {level} {}: {message}{colon}{rest}", about.target());
        writeln!(writer, "{}", self.style.dim(&line))
    }
}

/// An event's message, and its other fields as `name value, name value`.
#[derive(Default)]
struct Fields {
    message: String,
    rest: String,
}

impl Fields {
    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = if field.name() == "message" {
            self.message.write_fmt(value)
        } else {
            let comma = if self.rest.is_empty() { "" } else { ", " };
            write!(self.rest, "{comma}{} {value}", field.name())
        };
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.add(field, format_args!("{value}"));
    }
}

/// Gives lines to [`output::aside`].
struct Lines;

impl MakeWriter<'_> for Lines {
    type Writer = Lines;

    fn make_writer(&self) -> Lines {
        Lines
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        output::aside(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Command-line arguments and global options.

use std::{path::PathBuf, time::Duration};

use bowline::{Revision, lock::Lock};
use clap::{Args, Parser, ValueEnum};

use crate::{
    commands::Commands,
    failure::Failure,
    interaction::{self, InteractionArgs},
    locked::LockFile,
    sign_in::Accounts,
    target::{CommandClock, trust::RunTrust},
    traffic::Traffic,
};

/// Look at, call and debug MCP servers.
///
/// A server is named by its name in a configuration file, by a URL, or by a
/// command after `--`. The server `demo` is built in.
#[derive(Debug, Parser)]
#[command(
    name = "bowline",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Commands,
}

/// Options that every command accepts.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Globals {
    /// Print results as JSON: one document, as the server sent it
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Time limit, for example 5, 2.5 or 500ms
    ///
    /// The limit applies to the whole command: connecting, reading lists page
    /// by page, calling. Time spent waiting for your answers, or for the
    /// command that answers for a model, does not count. Servers get another
    /// 250 ms to shut down. For `watch` and `log-level`, which keep running, it
    /// limits connecting and each request. Without it, each request may take 30
    /// seconds.
    #[arg(long, global = true, value_name = "SECONDS", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Maximum size of a message from a server, for example 64MiB [default:
    /// 16MiB]
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        value_parser = parse_size,
        visible_alias = "max-answer-size",
        hide_short_help = true
    )]
    pub(crate) max_frame: Option<usize>,
    /// Read servers from this file only
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Use servers from project files without asking
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) trust_project: bool,
    /// Send an HTTP header to the server; may be repeated
    #[arg(long, global = true, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Send credentials to other hosts over plain http, where they can be
    /// intercepted
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) allow_plain_http: bool,
    /// Use only this protocol revision
    #[arg(long, global = true, value_name = "REVISION", value_parser = parse_revision)]
    pub(crate) protocol: Option<Revision>,
    /// Print every message sent or received to standard error
    #[arg(long, global = true)]
    pub(crate) trace: bool,
    /// Write every message sent or received to a new file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Call only tools that are as bowline.lock has them; see `bowline lock`
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = crate::locked::DEFAULT_FILE,
        hide_short_help = true
    )]
    pub(crate) locked: Option<PathBuf>,
    /// Sign in by copying URLs instead of opening a browser
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_browser: bool,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    #[command(flatten)]
    pub(crate) interaction: InteractionArgs,
    /// Observers of the messages sent and received.
    #[arg(skip)]
    pub(crate) traffic: Traffic,
    /// The user's sign-ins.
    #[arg(skip)]
    pub(crate) accounts: Accounts,
    /// The servers as they were reviewed, if only such tools may be called.
    #[arg(skip)]
    pub(crate) reviewed: Option<Lock>,
    /// Measures the time the command has taken.
    #[arg(skip)]
    pub(crate) clock: CommandClock,
    /// The project servers that may be used in this run.
    #[arg(skip)]
    pub(crate) trusted: RunTrust,
}

impl Globals {
    /// Reads the answer files named on the command line.
    pub(crate) fn read_answers(&mut self) -> Result<(), Failure> {
        let remaining = self
            .timeout
            .map(|timeout| timeout.saturating_sub(self.clock.elapsed()));
        self.interaction.preset_answers =
            interaction::read_answers(&self.interaction.answer, remaining)?;
        Ok(())
    }

    /// Reads the lock file named by `--locked`.
    pub(crate) fn read_lock(&mut self) -> Result<(), Failure> {
        if let Some(path) = &self.locked {
            self.reviewed = Some(LockFile::load_existing(path)?.lock);
        }
        Ok(())
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    /// In a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Returns whether to use colours, given whether the output is a terminal.
    pub(crate) fn is_enabled(self, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                terminal && !no_color && !dumb
            }
        }
    }
}

/// Parses a duration: seconds, unless a unit is given.
pub(crate) fn parse_duration(input: &str) -> Result<Duration, String> {
    let (number, scale) = match input {
        _ if input.ends_with("ms") => (input.trim_end_matches("ms"), 0.001),
        _ if input.ends_with('s') => (input.trim_end_matches('s'), 1.0),
        _ if input.ends_with('m') => (input.trim_end_matches('m'), 60.0),
        _ => (input, 1.0),
    };
    let number: f64 = number
        .trim()
        .parse()
        .map_err(|_| "expected a number of seconds, such as 5, 2.5 or 500ms".to_owned())?;
    let duration = Duration::try_from_secs_f64(number * scale);
    duration
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "must be greater than zero".to_owned())
}

/// Parses a number of bytes with an optional unit: `64MiB`, `2 GB`, `5000`.
pub(crate) fn parse_size(input: &str) -> Result<usize, String> {
    bowline::config::parse_size(input)
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| "expected a number of bytes, such as 64MiB or 5000000".to_owned())
}

fn parse_revision(input: &str) -> Result<Revision, String> {
    Revision::parse(input).ok_or_else(|| {
        let known = Revision::ALL.map(Revision::as_str);
        format!(
            "unknown revision; supported revisions: {}",
            known.join(", ")
        )
    })
}

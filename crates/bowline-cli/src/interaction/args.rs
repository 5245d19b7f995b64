//! Options for answering questions from servers.

use std::{path::PathBuf, str::FromStr};

use bowline::model::LogLevel;
use clap::Args;

use super::preset::{self, AnswerWord, PresetAnswer};

/// Default for `--max-sampling`.
const DEFAULT_MAX_SAMPLING: u32 = 16;

/// Options for questions from servers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Questions from servers")]
pub(crate) struct InteractionArgs {
    /// Answer a form field: FIELD=VALUE, FIELD:=JSON, or @answers.json for a
    /// file; may be repeated
    #[arg(
        long,
        global = true,
        value_name = "FIELD=VALUE",
        hide_short_help = true
    )]
    #[arg(value_parser = preset::parse_answer)]
    pub(crate) answer: Vec<AnswerWord>,
    /// The answers, including those read from files.
    #[arg(skip)]
    pub(crate) preset_answers: Vec<Answers>,
    /// Answers to the questions of a suspended call only.
    #[arg(skip)]
    pub(crate) suspended_answers: Vec<Answers>,
    /// Accept everything, and fill in forms with their defaults
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) accept: bool,
    /// Decline everything that is not answered with --answer
    #[arg(long, global = true, hide_short_help = true, conflicts_with = "accept")]
    pub(crate) decline: bool,
    /// Never prompt, not even in a terminal
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_input: bool,
    /// Command that answers for a model: request on stdin, text or result on
    /// stdout
    ///
    /// Each answer may take 120 seconds, or `sampling.timeout` in
    /// settings.json.
    #[arg(long, global = true, value_name = "COMMAND", hide_short_help = true)]
    pub(crate) sampling_command: Option<String>,
    /// How often a call may run that command without asking you
    ///
    /// Model answers may cost money. Beyond this limit, you are asked in a
    /// terminal; without one, requests are refused.
    #[arg(
        long,
        global = true,
        value_name = "COUNT",
        default_value_t = DEFAULT_MAX_SAMPLING,
        hide_short_help = true
    )]
    pub(crate) max_sampling: u32,
    /// Tell servers that they may work in this folder; may be repeated
    #[arg(long, global = true, value_name = "FOLDER", hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Show progress even without a terminal, at most one line per second
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) progress: bool,
    /// Show the server's log messages from this level up, or `off`
    #[arg(long, global = true, value_name = "LEVEL", hide_short_help = true)]
    pub(crate) log: Option<LogFilter>,
}

/// The answers of one `--answer`: a file may hold several.
pub(crate) type Answers = std::sync::Arc<[PresetAnswer]>;

/// Which log messages are shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LogFilter {
    /// None.
    Off,
    /// Messages the server sends unprompted, from warnings up.
    Default,
    /// Messages from this level up.
    AtLeast(LogLevel),
}

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(input: &str) -> Result<Self, String> {
        if input == "off" {
            return Ok(Self::Off);
        }
        let known = |level: &&LogLevel| level.as_str() == input;
        let level = LogLevel::ALL.iter().find(known).cloned();
        level.map(Self::AtLeast).ok_or_else(|| {
            let names = LogLevel::ALL.map(|level| level.to_string());
            format!("unknown log level; use off, {}", names.join(", "))
        })
    }
}

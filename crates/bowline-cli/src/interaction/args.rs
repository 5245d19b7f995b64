//! How a person says beforehand what servers are answered.

use std::{path::PathBuf, str::FromStr};

use bowline::model::LogLevel;
use clap::Args;

use super::preset::{self, AnswerWord, PresetAnswer};

/// How often a model is asked in one call, unless said otherwise.
const DEFAULT_MAX_SAMPLING: u32 = 16;

/// Options about what servers ask.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What servers ask")]
pub(crate) struct InteractionArgs {
    /// Answer a field of a form, as JSON with :=, or all of a file with @answers.json; may be repeated
    #[arg(
        long,
        global = true,
        value_name = "FIELD=VALUE",
        hide_short_help = true
    )]
    #[arg(value_parser = preset::parse_answer)]
    pub(crate) answer: Vec<AnswerWord>,
    /// The same, when files were read.
    #[arg(skip)]
    pub(crate) preset_answers: Vec<Answers>,
    /// What was typed for the questions of a parked call, and for no others.
    #[arg(skip)]
    pub(crate) parked_answers: Vec<Answers>,
    /// Say yes to everything, and fill in forms with their defaults
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) accept: bool,
    /// Say no to everything that is not answered with --answer
    #[arg(long, global = true, hide_short_help = true, conflicts_with = "accept")]
    pub(crate) decline: bool,
    /// Never ask, not even in a terminal
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_input: bool,
    /// Let this command answer for a model: a request on stdin, a text or a result on stdout
    ///
    /// It may take 120 seconds for each answer, or as many as `sampling.timeout`
    /// in settings.json says.
    #[arg(long, global = true, value_name = "COMMAND", hide_short_help = true)]
    pub(crate) sampling_command: Option<String>,
    /// How often a call may have that command asked without asking you
    ///
    /// Each answer of a model costs something. What a server asks beyond this
    /// is asked in a terminal, and refused where there is none.
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
    /// Show progress also where no terminal does, a line each second at most
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) progress: bool,
    /// Show the server's log messages from this level up, or `off`
    #[arg(long, global = true, value_name = "LEVEL", hide_short_help = true)]
    pub(crate) log: Option<LogFilter>,
}

/// All that one `--answer` says: a file says more than one thing.
pub(crate) type Answers = std::sync::Arc<[PresetAnswer]>;

/// Which log messages are shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LogFilter {
    /// None.
    Off,
    /// What the server sends of its own accord, from warnings up.
    Default,
    /// Those from this level up.
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
            format!("the levels are off, {}", names.join(", "))
        })
    }
}

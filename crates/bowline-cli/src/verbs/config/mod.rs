//! `bowline config`.
//!
//! - `add`, `remove`, `import`, `trust` and `path` are its verbs.
//! - `place` finds Bowline's own files, `file` changes one, `entry` is what is
//!   written into it.

mod add;
mod entry;
mod file;
mod import;
mod path;
mod place;
mod remove;
mod trust;

use clap::{Args, Subcommand};

use crate::{context::Context, failure::Failure};

/// Add, remove, import and trust servers; say where they are kept
#[derive(Args, Debug)]
pub(crate) struct Config {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Add(add::Add),
    Remove(remove::Remove),
    Import(import::Import),
    Trust(trust::Trust),
    Path(path::Path),
}

impl Config {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match self.verb {
            Verb::Add(verb) => verb.run(cx),
            Verb::Remove(verb) => verb.run(cx),
            Verb::Import(verb) => verb.run(cx).await,
            Verb::Trust(verb) => verb.run(cx).await,
            Verb::Path(verb) => verb.run(cx),
        }
    }
}

//! `bowline man`.

use std::{fs, path::PathBuf};

use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::{args::Cli, context::Context, failure::Failure};

/// Print the manual pages
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline man | man -l -                    read them
  bowline man --dir ~/.local/share/man/man1 one page for each command")]
pub(crate) struct Man {
    /// Write one page per command into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut command = Cli::command();
        command.build();
        let mut pages = Vec::new();
        collect(&command, &mut pages);
        let Some(dir) = self.dir else {
            return print(cx, &pages);
        };
        let dir_display = dir.display();
        let to_failure = |error| Failure::usage(format!("--dir {dir_display}: {error}"));
        fs::create_dir_all(&dir).map_err(to_failure)?;
        for page in &pages {
            page.generate_to(&dir).map_err(to_failure)?;
        }
        let count = pages.len();
        cx.output.line(format!("{count} pages in {dir_display}"))
    }
}

/// Collects the page of a command and those of its subcommands.
fn collect(command: &clap::Command, pages: &mut Vec<Page>) {
    // clap's `help` subcommand is on every page already.
    if command.get_name() == "help" {
        return;
    }
    pages.push(Page::new(command.clone()));
    for subcommand in command.get_subcommands() {
        collect(subcommand, pages);
    }
}

/// Prints all pages.
fn print(cx: &Context, pages: &[Page]) -> Result<(), Failure> {
    let mut text = Vec::new();
    for page in pages {
        page.render(&mut text)?;
    }
    cx.output.line(String::from_utf8_lossy(&text).trim_end())
}

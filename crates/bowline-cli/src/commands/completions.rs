//! `bowline completions`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::{args::Cli, context::Context, failure::Failure};

/// Print shell completions
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline completions bash > ~/.local/share/bash-completion/completions/bowline
  bowline completions zsh > \"${fpath[1]}/_bowline\"
  bowline completions fish > ~/.config/fish/completions/bowline.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "bowline", &mut script);
        cx.output.line(String::from_utf8_lossy(&script).trim_end())
    }
}

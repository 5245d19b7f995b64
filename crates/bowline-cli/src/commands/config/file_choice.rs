//! The location of Bowline's own configuration files.

use std::path::{Path, PathBuf};

use bowline::config::{App, ConfigScope, ConfigSource, Os, well_known};
use clap::Args;

use crate::{context::Context, failure::Failure};

/// Options that select one of Bowline's files.
#[derive(Args, Debug)]
pub(super) struct FileChoice {
    /// Use the project's file: ./bowline.json
    #[arg(long, conflicts_with_all = ["user", "config"])]
    project: bool,
    /// Use the user's file (default)
    #[arg(long, conflicts_with = "config")]
    user: bool,
}

/// One of Bowline's files, which need not exist.
#[derive(Clone, Debug)]
pub(super) struct ConfigLocation {
    pub(super) path: PathBuf,
    /// Its source; `None` for a file named on the command line.
    pub(super) source: Option<ConfigSource>,
}

impl ConfigLocation {
    /// Returns whether it belongs to a project.
    pub(super) fn is_project(&self) -> bool {
        let source = self.source.as_ref();
        source.is_some_and(|source| source.scope == ConfigScope::Project)
    }
}

impl From<ConfigSource> for ConfigLocation {
    fn from(source: ConfigSource) -> Self {
        Self {
            path: source.path.clone(),
            source: Some(source),
        }
    }
}

impl FileChoice {
    /// Returns the selected file, which need not exist.
    pub(super) fn location(&self, cx: &Context) -> Result<ConfigLocation, Failure> {
        if let Some(path) = &cx.globals.config {
            return Ok(ConfigLocation {
                path: path.clone(),
                source: None,
            });
        }
        let scope = if self.project {
            ConfigScope::Project
        } else {
            ConfigScope::User
        };
        let selected = bowline_sources()?
            .into_iter()
            .find(|source| source.scope == scope);
        selected
            .map(ConfigLocation::from)
            .ok_or_else(|| Failure::usage("no location for a configuration file"))
    }

    /// Returns whether a file was selected explicitly.
    pub(super) fn is_given(&self, cx: &Context) -> bool {
        self.project || self.user || cx.globals.config.is_some()
    }
}

/// Returns all sources of servers, in order of precedence.
pub(super) fn all_sources() -> Result<Vec<ConfigSource>, Failure> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| Failure::usage("home directory not found").hint("set HOME"))?;
    let cwd = std::env::current_dir()?;
    Ok(well_known(&home, &cwd, Os::current()))
}

/// Returns Bowline's own sources.
pub(super) fn bowline_sources() -> Result<Vec<ConfigSource>, Failure> {
    let mut sources = all_sources()?;
    sources.retain(|source| source.app == App::Bowline);
    Ok(sources)
}

/// Formats a path with `~` for the home directory.
pub(super) fn display_path(path: &Path) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    match home
        .as_deref()
        .and_then(|home| path.strip_prefix(home).ok())
    {
        Some(relative) => format!("~/{}", relative.display()),
        None => path.display().to_string(),
    }
}

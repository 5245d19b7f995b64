//! Where Bowline's own files are.

use std::path::{Path, PathBuf};

use bowline::config::{App, ConfigScope, ConfigSource, Os, well_known};
use clap::Args;

use crate::{context::Context, failure::Failure};

/// Which of Bowline's files is meant.
#[derive(Args, Debug)]
pub(super) struct FileChoice {
    /// In this project: ./bowline.json
    #[arg(long, conflicts_with_all = ["user", "config"])]
    project: bool,
    /// For this user, everywhere (this is the default)
    #[arg(long, conflicts_with = "config")]
    user: bool,
}

/// A file of Bowline's, which need not be there.
#[derive(Clone, Debug)]
pub(super) struct ConfigLocation {
    pub(super) path: PathBuf,
    /// The place that it is at; none for a file that was named.
    pub(super) source: Option<ConfigSource>,
}

impl ConfigLocation {
    /// Whether it belongs to a project.
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
    /// The file that is meant, which need not be there.
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
            .ok_or_else(|| Failure::usage("there is no place for a file"))
    }

    /// Whether it was said which.
    pub(super) fn is_given(&self, cx: &Context) -> bool {
        self.project || self.user || cx.globals.config.is_some()
    }
}

/// All places where programs keep servers, those that count most first.
pub(super) fn all_sources() -> Result<Vec<ConfigSource>, Failure> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let home =
        home.ok_or_else(|| Failure::usage("the home folder is not known").hint("set HOME"))?;
    let cwd = std::env::current_dir()?;
    Ok(well_known(&home, &cwd, Os::current()))
}

/// Bowline's own places.
pub(super) fn bowline_sources() -> Result<Vec<ConfigSource>, Failure> {
    let mut sources = all_sources()?;
    sources.retain(|source| source.app == App::Bowline);
    Ok(sources)
}

/// A path, with `~` for the home folder.
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

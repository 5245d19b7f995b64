//! The configured servers, and which one a name refers to.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use bowline::config::{
    App, ConfigScope, ConfigSource, Loader, Os, Problem, ProblemKind, ServerEntry, ServersFile,
    Severity, well_known,
};

use super::{DEMO, shell_quoted};
use crate::{
    args::Globals,
    failure::Failure,
    output::{Output, escape_control, short_path},
};

/// A server and where it is configured.
#[derive(Clone, Debug)]
pub(crate) struct ConfiguredServer {
    pub(crate) entry: ServerEntry,
    /// The program the file belongs to; `None` for a file named on the command
    /// line.
    pub(crate) app: Option<App>,
    /// The scope of the file; `None` for a file named on the command line.
    pub(crate) scope: Option<ConfigScope>,
    pub(crate) path: PathBuf,
}

impl ConfiguredServer {
    /// Returns the command-line arguments that select it.
    pub(crate) fn to_shell_args(&self) -> String {
        let options = self.options();
        format!("{options}{}", shell_quoted(&self.entry.name))
    }

    /// Returns the options needed to find it, followed by a space.
    pub(crate) fn options(&self) -> String {
        match self.app {
            Some(_) => String::new(),
            None => format!("--config {} ", shell_quoted(&self.path.to_string_lossy())),
        }
    }
}

/// All configured servers in order of precedence: the first of a name is the
/// effective one.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    pub(crate) entries: Vec<ConfiguredServer>,
    /// Problems found in the files.
    pub(crate) problems: Vec<(PathBuf, Problem)>,
    /// The names of disabled servers.
    pub(crate) disabled: Vec<(PathBuf, String)>,
    /// The files that exist.
    pub(crate) files: Vec<PathBuf>,
    /// The names that belong to the user, including disabled servers and
    /// invalid entries. Projects cannot use them.
    user_names: HashMap<String, PathBuf>,
    /// The user's files that could not be read completely. They may contain any
    /// name, so no project server is used.
    unreadable_files: Vec<PathBuf>,
    /// What each server is shadowed by.
    shadowing: Vec<Option<ShadowedBy>>,
}

/// What takes precedence over a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShadowedBy {
    /// A server in this file, possibly disabled or invalid.
    File(PathBuf),
    /// The built-in server.
    BuiltIn,
    /// Possibly a server in this file of the user, which cannot be read.
    UnreadableFile(PathBuf),
}

impl ShadowedBy {
    /// Describes the reason.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::File(path) => format!("{} has a server of the same name", short_path(path)),
            Self::BuiltIn => "the built-in server has the same name".to_owned(),
            Self::UnreadableFile(path) => {
                let file = short_path(path);
                format!("your {file} cannot be read and may have a server of the same name")
            }
        }
    }
}

impl Servers {
    /// Loads the file named on the command line, or otherwise all known
    /// configuration files.
    pub(crate) fn load(globals: &Globals) -> Result<Self, Failure> {
        let sources = config_sources();
        let loader = Loader::from_process().with_other_sources(&sources);
        let mut servers = Self::default();
        if let Some(path) = &globals.config {
            let file = loader
                .load(path)
                .map_err(|error| Failure::usage(format!("--config {error}")))?;
            if let Some(problem) = file.errors().find(|problem| problem.server.is_none()) {
                let path = path.display();
                return Err(Failure::usage(format!("--config {path}: {problem}")));
            }
            servers.add(None, None, path.clone(), file);
            servers.resolve_shadowing();
            return Ok(servers);
        }
        for source in sources.into_iter().filter(ConfigSource::exists) {
            let file = loader.load_source(&source);
            servers.add(Some(source.app), Some(source.scope), source.path, file);
        }
        servers.resolve_shadowing();
        Ok(servers)
    }

    fn add(
        &mut self,
        app: Option<App>,
        scope: Option<ConfigScope>,
        path: PathBuf,
        file: ServersFile,
    ) {
        if scope != Some(ConfigScope::Project) {
            let read = file.servers.iter().map(|entry| &entry.name);
            let broken = file.problems.iter().filter_map(|it| it.server.as_ref());
            for name in read.chain(&file.disabled).chain(broken) {
                let first = self.user_names.entry(name.clone());
                first.or_insert_with(|| path.clone());
            }
            if file.errors().any(|problem| problem.server.is_none()) {
                self.unreadable_files.push(path.clone());
            }
        }
        let found = |entry| ConfiguredServer {
            entry,
            app,
            scope,
            path: path.clone(),
        };
        self.entries.extend(file.servers.into_iter().map(found));
        let problems = file.problems.into_iter();
        self.problems
            .extend(problems.map(|problem| (path.clone(), problem)));
        let disabled = file.disabled.into_iter();
        self.disabled
            .extend(disabled.map(|name| (path.clone(), name)));
        self.files.push(path);
    }

    /// Returns the server of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&ConfiguredServer> {
        self.effective().find(|found| found.entry.name == name)
    }

    /// Returns the effective servers.
    pub(crate) fn effective(&self) -> impl Iterator<Item = &ConfiguredServer> {
        let all = self.entries.iter().zip(&self.shadowing);
        all.filter(|(_, shadow)| shadow.is_none())
            .map(|(found, _)| found)
    }

    /// Returns what shadows the server at this index: an earlier one of the
    /// same name. A project's server also gives way to the user's and the
    /// built-in ones, and cannot have a name that begins with one of theirs and
    /// a dot, because that is how their tools are addressed.
    pub(crate) fn shadowed_by(&self, index: usize) -> Option<ShadowedBy> {
        self.shadowing.get(index).cloned().flatten()
    }

    /// Returns what shadows the server of this name, if it is configured but
    /// not effective.
    pub(crate) fn shadowed_by_name(&self, name: &str) -> Option<ShadowedBy> {
        let index = self.entries.iter().position(|it| it.entry.name == name)?;
        self.shadowed_by(index)
    }

    /// Computes what shadows each server.
    fn resolve_shadowing(&mut self) {
        let mut first: HashMap<&str, &Path> = HashMap::new();
        let mut shadowing = Vec::with_capacity(self.entries.len());
        for found in &self.entries {
            let name = found.entry.name.as_str();
            shadowing.push(match first.get(name) {
                Some(path) => Some(ShadowedBy::File(path.to_path_buf())),
                None if found.scope == Some(ConfigScope::Project) => self.reserved_by(name),
                None => None,
            });
            first.entry(name).or_insert(&found.path);
        }
        self.shadowing = shadowing;
    }

    /// Returns who owns this name, if it is, or may be, the user's or the
    /// built-in one.
    pub(crate) fn reserved_by(&self, name: &str) -> Option<ShadowedBy> {
        let dots = name.match_indices('.').map(|(index, _)| index);
        for end in dots.chain([name.len()]) {
            let part = &name[..end];
            if let Some(path) = self.user_names.get(part) {
                return Some(ShadowedBy::File(path.clone()));
            }
            if part == DEMO {
                return Some(ShadowedBy::BuiltIn);
            }
        }
        self.unreadable_files
            .first()
            .cloned()
            .map(ShadowedBy::UnreadableFile)
    }

    /// Returns whether there are invalid entries.
    pub(crate) fn has_broken_entries(&self) -> bool {
        let is_broken =
            |problem: &Problem| problem.severity() == Severity::Error && problem.server.is_some();
        self.problems.iter().any(|(_, problem)| is_broken(problem))
    }

    /// Warns about files that could not be read. With `include_entries`, also
    /// about invalid entries.
    pub(crate) fn print_warnings(&self, output: &Output, include_entries: bool) {
        for (path, problem) in &self.problems {
            let is_error = problem.severity() == Severity::Error;
            if is_error && (include_entries || problem.server.is_none()) {
                output.note_once(warning(path, problem));
            }
        }
    }
}

fn warning(path: &Path, problem: &Problem) -> String {
    let advice = match problem.kind {
        ProblemKind::NotOwned(_) => ", or pass it with --config",
        _ => "",
    };
    let problem = escape_control(&problem.to_string()).into_owned();
    format!("warning: {}: {problem}{advice}", short_path(path))
}

/// Returns whether a file belongs to a project, as seen from this directory.
pub(crate) fn is_project_file(path: &Path, folder: &Path) -> bool {
    let home = std::env::home_dir().unwrap_or_default();
    let sources = well_known(&home, folder, Os::current());
    let is_project =
        |source: &ConfigSource| source.scope == ConfigScope::Project && source.path == path;
    sources.iter().any(is_project)
}

/// Returns the sources of configured servers.
fn config_sources() -> Vec<ConfigSource> {
    let (Some(home), Ok(cwd)) = (std::env::home_dir(), std::env::current_dir()) else {
        return Vec::new();
    };
    well_known(&home, &cwd, Os::current())
}

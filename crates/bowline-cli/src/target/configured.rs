//! The servers that configuration files name, and which of a name is meant.

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

/// A server, and where it was found.
#[derive(Clone, Debug)]
pub(crate) struct ConfiguredServer {
    pub(crate) entry: ServerEntry,
    /// The program whose file it is; none for a file that was named.
    pub(crate) app: Option<App>,
    /// Whom that file belongs to; nobody in particular, if it was named.
    pub(crate) scope: Option<ConfigScope>,
    pub(crate) path: PathBuf,
}

impl ConfiguredServer {
    /// What to type to mean it.
    pub(crate) fn to_shell_args(&self) -> String {
        let options = self.options();
        format!("{options}{}", shell_quoted(&self.entry.name))
    }

    /// The options that it takes to find it, and a blank after them.
    pub(crate) fn options(&self) -> String {
        match self.app {
            Some(_) => String::new(),
            None => format!("--config {} ", shell_quoted(&self.path.to_string_lossy())),
        }
    }
}

/// All servers that were found, in the order in which they count: the first of
/// a name is the one that is meant.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    pub(crate) entries: Vec<ConfiguredServer>,
    /// What is wrong with files, or was ignored in them.
    pub(crate) problems: Vec<(PathBuf, Problem)>,
    /// The names of servers that are switched off.
    pub(crate) disabled: Vec<(PathBuf, String)>,
    /// The files that were there.
    pub(crate) files: Vec<PathBuf>,
    /// The names that are the user's: also those of servers that are switched
    /// off, or whose entries are wrong. No project gets these.
    user_names: HashMap<String, PathBuf>,
    /// The user's files of which not all names are known. Any name may be in
    /// them, so that no project gets one.
    unreadable_files: Vec<PathBuf>,
    /// What counts in the place of each that was found.
    shadowing: Vec<Option<ShadowedBy>>,
}

/// What counts in the place of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShadowedBy {
    /// A server of this file, or one that is switched off or broken there.
    File(PathBuf),
    /// The server that is built in.
    BuiltIn,
    /// Perhaps a server of this file of the user's, which cannot be read.
    UnreadableFile(PathBuf),
}

impl ShadowedBy {
    /// Why it counts, for people.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::File(path) => format!("{} has one of this name, which counts", short_path(path)),
            Self::BuiltIn => "what is built in has this name, and counts".to_owned(),
            Self::UnreadableFile(path) => {
                let file = short_path(path);
                format!("your {file} cannot be read, and may have one of this name")
            }
        }
    }
}

impl Servers {
    /// Looks through the file that was named, or else through all the places
    /// where programs keep their servers.
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

    /// The server of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&ConfiguredServer> {
        self.effective().find(|found| found.entry.name == name)
    }

    /// Those that count.
    pub(crate) fn effective(&self) -> impl Iterator<Item = &ConfiguredServer> {
        let all = self.entries.iter().zip(&self.shadowing);
        all.filter(|(_, shadow)| shadow.is_none())
            .map(|(found, _)| found)
    }

    /// What counts in the place of the server that was found at this place, if
    /// something does: one of the same name before it. A project's server also
    /// gives way to what is the user's or built in, and cannot have a name that
    /// begins with one of those and a dot, since that is how their tools are
    /// named.
    pub(crate) fn shadowed_by(&self, index: usize) -> Option<ShadowedBy> {
        self.shadowing.get(index).cloned().flatten()
    }

    /// What counts in the place of a server of this name, if it was found and
    /// does not count.
    pub(crate) fn shadowed_by_name(&self, name: &str) -> Option<ShadowedBy> {
        let index = self.entries.iter().position(|it| it.entry.name == name)?;
        self.shadowed_by(index)
    }

    /// Finds out what counts.
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

    /// Whose this name is, if it is the user's or built in, or may be.
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

    /// Whether there are entries that cannot be used as they are written.
    pub(crate) fn has_broken_entries(&self) -> bool {
        let is_broken =
            |problem: &Problem| problem.severity() == Severity::Error && problem.server.is_some();
        self.problems.iter().any(|(_, problem)| is_broken(problem))
    }

    /// Says which files could not be read at all: nothing of what is in them is
    /// known here. Of all servers, also says which entries cannot be used.
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
        ProblemKind::NotOwned(_) => ", or name it with --config",
        _ => "",
    };
    let problem = escape_control(&problem.to_string()).into_owned();
    format!("warning: {}: {problem}{advice}", short_path(path))
}

/// Whether a file is one of a project's, for those who work in this folder.
pub(crate) fn is_project_file(path: &Path, folder: &Path) -> bool {
    let home = std::env::home_dir().unwrap_or_default();
    let sources = well_known(&home, folder, Os::current());
    let is_project =
        |source: &ConfigSource| source.scope == ConfigScope::Project && source.path == path;
    sources.iter().any(is_project)
}

/// The places where programs keep their servers.
fn config_sources() -> Vec<ConfigSource> {
    let (Some(home), Ok(cwd)) = (std::env::home_dir(), std::env::current_dir()) else {
        return Vec::new();
    };
    well_known(&home, &cwd, Os::current())
}

//! The servers that configuration files name, and which of a name is meant.

use std::path::{Path, PathBuf};

use bowline::config::{
    App, Loader, Os, Problem, ProblemKind, Scope, ServerEntry, ServersFile, Severity, Source,
    well_known,
};

use super::DEMO;
use crate::{
    args::Globals,
    failure::Failure,
    output::{Output, clean, short},
};

/// A server, and where it was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) entry: ServerEntry,
    /// The program whose file it is; none for a file that was named.
    pub(crate) app: Option<App>,
    /// Whom that file belongs to; nobody in particular, if it was named.
    pub(crate) scope: Option<Scope>,
    pub(crate) path: PathBuf,
}

/// All servers that were found, in the order in which they count: the first of
/// a name is the one that is meant.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    pub(crate) found: Vec<Found>,
    /// What is wrong with files, or was ignored in them.
    pub(crate) problems: Vec<(PathBuf, Problem)>,
    /// The names of servers that are switched off.
    pub(crate) disabled: Vec<(PathBuf, String)>,
    /// The files that were there.
    pub(crate) files: Vec<PathBuf>,
    /// The names that are the user's: also those of servers that are switched
    /// off, or whose entries are wrong. No project gets these.
    own_names: Vec<(String, PathBuf)>,
}

/// What counts in the place of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    /// A server of this file, or one that is switched off or broken there.
    File(PathBuf),
    /// The server that is built in.
    BuiltIn,
}

impl Rival {
    /// What it is, for people.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::File(path) => short(path),
            Self::BuiltIn => "what is built in".to_owned(),
        }
    }
}

impl Servers {
    /// Looks through the file that was named, or else through all the places
    /// where programs keep their servers.
    pub(crate) fn find(globals: &Globals) -> Result<Self, Failure> {
        let loader = Loader::from_process();
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
            return Ok(servers);
        }
        for source in places() {
            if source.path.is_file() {
                let file = loader.load_source(&source);
                servers.add(Some(source.app), Some(source.scope), source.path, file);
            }
        }
        Ok(servers)
    }

    fn add(&mut self, app: Option<App>, scope: Option<Scope>, path: PathBuf, file: ServersFile) {
        if scope != Some(Scope::Project) {
            let read = file.servers.iter().map(|entry| &entry.name);
            let broken = file.problems.iter().filter_map(|it| it.server.as_ref());
            let names = read.chain(&file.disabled).chain(broken);
            self.own_names
                .extend(names.map(|name| (name.clone(), path.clone())));
        }
        let found = |entry| Found {
            entry,
            app,
            scope,
            path: path.clone(),
        };
        self.found.extend(file.servers.into_iter().map(found));
        let problems = file.problems.into_iter();
        self.problems
            .extend(problems.map(|problem| (path.clone(), problem)));
        let disabled = file.disabled.into_iter();
        self.disabled
            .extend(disabled.map(|name| (path.clone(), name)));
        self.files.push(path);
    }

    /// The server of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Found> {
        self.effective().find(|found| found.entry.name == name)
    }

    /// Those that count.
    pub(crate) fn effective(&self) -> impl Iterator<Item = &Found> {
        let counts = |(at, _): &(usize, &Found)| self.rival(*at).is_none();
        self.found
            .iter()
            .enumerate()
            .filter(counts)
            .map(|(_, found)| found)
    }

    /// What counts in the place of the server that was found at this place, if
    /// something does: one of the same name before it. A project's server also
    /// gives way to what is the user's or built in, and cannot have a name that
    /// begins with one of those and a dot, since that is how their tools are
    /// named.
    pub(crate) fn rival(&self, at: usize) -> Option<Rival> {
        let found = self.found.get(at)?;
        let name = &found.entry.name;
        let mut earlier = self.found.iter().take(at);
        if let Some(other) = earlier.find(|other| other.entry.name == *name) {
            return Some(Rival::File(other.path.clone()));
        }
        match found.scope {
            Some(Scope::Project) => self.owner(name),
            _ => None,
        }
    }

    /// Whose this name is, if it is the user's or built in.
    pub(crate) fn owner(&self, name: &str) -> Option<Rival> {
        let taken = |own: &str| {
            let rest = name.strip_prefix(own);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if let Some((_, path)) = self.own_names.iter().find(|(own, _)| taken(own)) {
            return Some(Rival::File(path.clone()));
        }
        taken(DEMO).then_some(Rival::BuiltIn)
    }

    /// Says which files could not be read at all: nothing of what is in them is
    /// known here. Of all servers, also says which entries cannot be used.
    pub(crate) fn warn(&self, output: &Output, of_all: bool) {
        for (path, problem) in &self.problems {
            let is_error = problem.severity() == Severity::Error;
            if is_error && (of_all || problem.server.is_none()) {
                output.remark_once(warning(path, problem));
            }
        }
    }
}

fn warning(path: &Path, problem: &Problem) -> String {
    let how = match problem.kind {
        ProblemKind::NotOwn(_) => ", or name it with --config",
        _ => "",
    };
    let problem = clean(&problem.to_string()).into_owned();
    format!("warning: {}: {problem}{how}", short(path))
}

/// Whether a file is one of a project's, for those who work in this folder.
pub(crate) fn is_projects_file(path: &Path, folder: &Path) -> bool {
    let home = std::env::home_dir().unwrap_or_default();
    let places = well_known(&home, folder, Os::current());
    let of_project = |place: &Source| place.scope == Scope::Project && place.path == path;
    places.iter().any(of_project)
}

/// The places where programs keep their servers.
fn places() -> Vec<Source> {
    let (Some(home), Ok(cwd)) = (std::env::home_dir(), std::env::current_dir()) else {
        return Vec::new();
    };
    well_known(&home, &cwd, Os::current())
}

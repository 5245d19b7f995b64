//! The servers that configuration files name, and which of a name is meant.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use bowline::config::{
    App, Loader, Os, Problem, ProblemKind, Scope, ServerEntry, ServersFile, Severity, Source,
    well_known,
};

use super::{DEMO, quoted};
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

impl Found {
    /// What to type to mean it.
    pub(crate) fn typed(&self) -> String {
        let options = self.options();
        format!("{options}{}", quoted(&self.entry.name))
    }

    /// The options that it takes to find it, and a blank after them.
    pub(crate) fn options(&self) -> String {
        match self.app {
            Some(_) => String::new(),
            None => format!("--config {} ", quoted(&self.path.to_string_lossy())),
        }
    }
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
    own_names: HashMap<String, PathBuf>,
    /// The user's files of which not all names are known. Any name may be in
    /// them, so that no project gets one.
    unread: Vec<PathBuf>,
    /// What counts in the place of each that was found.
    rivals: Vec<Option<Rival>>,
}

/// What counts in the place of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    /// A server of this file, or one that is switched off or broken there.
    File(PathBuf),
    /// The server that is built in.
    BuiltIn,
    /// Perhaps a server of this file of the user's, which cannot be read.
    Unread(PathBuf),
}

impl Rival {
    /// Why it counts, for people.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::File(path) => format!("{} has one of this name, which counts", short(path)),
            Self::BuiltIn => "what is built in has this name, and counts".to_owned(),
            Self::Unread(path) => {
                let file = short(path);
                format!("your {file} cannot be read, and may have one of this name")
            }
        }
    }
}

impl Servers {
    /// Looks through the file that was named, or else through all the places
    /// where programs keep their servers.
    pub(crate) fn find(globals: &Globals) -> Result<Self, Failure> {
        let places = places();
        let loader = Loader::from_process().beside(&places);
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
            servers.settle();
            return Ok(servers);
        }
        for source in places.into_iter().filter(Source::is_there) {
            let file = loader.load_source(&source);
            servers.add(Some(source.app), Some(source.scope), source.path, file);
        }
        servers.settle();
        Ok(servers)
    }

    fn add(&mut self, app: Option<App>, scope: Option<Scope>, path: PathBuf, file: ServersFile) {
        if scope != Some(Scope::Project) {
            let read = file.servers.iter().map(|entry| &entry.name);
            let broken = file.problems.iter().filter_map(|it| it.server.as_ref());
            for name in read.chain(&file.disabled).chain(broken) {
                let first = self.own_names.entry(name.clone());
                first.or_insert_with(|| path.clone());
            }
            if file.errors().any(|problem| problem.server.is_none()) {
                self.unread.push(path.clone());
            }
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
        let all = self.found.iter().zip(&self.rivals);
        all.filter(|(_, rival)| rival.is_none())
            .map(|(found, _)| found)
    }

    /// What counts in the place of the server that was found at this place, if
    /// something does: one of the same name before it. A project's server also
    /// gives way to what is the user's or built in, and cannot have a name that
    /// begins with one of those and a dot, since that is how their tools are
    /// named.
    pub(crate) fn rival(&self, at: usize) -> Option<Rival> {
        self.rivals.get(at).cloned().flatten()
    }

    /// What counts in the place of a server of this name, if it was found and
    /// does not count.
    pub(crate) fn rival_of(&self, name: &str) -> Option<Rival> {
        let at = self.found.iter().position(|it| it.entry.name == name)?;
        self.rival(at)
    }

    /// Finds out what counts.
    fn settle(&mut self) {
        let mut first: HashMap<&str, &Path> = HashMap::new();
        let mut rivals = Vec::with_capacity(self.found.len());
        for found in &self.found {
            let name = found.entry.name.as_str();
            rivals.push(match first.get(name) {
                Some(path) => Some(Rival::File(path.to_path_buf())),
                None if found.scope == Some(Scope::Project) => self.owner(name),
                None => None,
            });
            first.entry(name).or_insert(&found.path);
        }
        self.rivals = rivals;
    }

    /// Whose this name is, if it is the user's or built in, or may be.
    pub(crate) fn owner(&self, name: &str) -> Option<Rival> {
        let dots = name.match_indices('.').map(|(at, _)| at);
        for end in dots.chain([name.len()]) {
            let part = &name[..end];
            if let Some(path) = self.own_names.get(part) {
                return Some(Rival::File(path.clone()));
            }
            if part == DEMO {
                return Some(Rival::BuiltIn);
            }
        }
        self.unread.first().cloned().map(Rival::Unread)
    }

    /// Whether there are entries that cannot be used as they are written.
    pub(crate) fn has_broken_entries(&self) -> bool {
        let is_broken =
            |problem: &Problem| problem.severity() == Severity::Error && problem.server.is_some();
        self.problems.iter().any(|(_, problem)| is_broken(problem))
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

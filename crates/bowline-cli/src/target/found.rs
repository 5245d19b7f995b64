//! The servers that configuration files name.

use std::path::PathBuf;

use bowline::config::{
    App, Loader, Os, Problem, Scope, ServerEntry, ServersFile, Source, well_known,
};

use crate::{args::Globals, failure::Failure};

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
            servers.add(None, None, path.clone(), file);
            return Ok(servers);
        }
        for source in places() {
            if source.path.is_file() {
                let file = loader.load_optional(&source.path);
                servers.add(Some(source.app), Some(source.scope), source.path, file);
            }
        }
        Ok(servers)
    }

    fn add(&mut self, app: Option<App>, scope: Option<Scope>, path: PathBuf, file: ServersFile) {
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
        self.found.iter().find(|found| found.entry.name == name)
    }

    /// Those that count: the first of each name.
    pub(crate) fn effective(&self) -> impl Iterator<Item = &Found> {
        let first = |(at, found): &(usize, &Found)| {
            let earlier = self.found.iter().take(*at);
            !earlier
                .clone()
                .any(|other| other.entry.name == found.entry.name)
        };
        self.found
            .iter()
            .enumerate()
            .filter(first)
            .map(|(_, found)| found)
    }
}

/// The places where programs keep their servers.
fn places() -> Vec<Source> {
    let (Some(home), Ok(cwd)) = (std::env::home_dir(), std::env::current_dir()) else {
        return Vec::new();
    };
    well_known(&home, &cwd, Os::current())
}

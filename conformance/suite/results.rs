//! Where the suite and the watch put what they found out, and how it is read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    Failure,
    check::{self, Check},
    scenario::Leg,
};

/// How long the time is that the suite puts behind a scenario's name, with the
/// dash before it: `-2026-11-15T13-17-11-074Z`.
const TIME: usize = 25;

/// The results of one run of the suite.
#[derive(Debug)]
pub struct Results {
    folder: PathBuf,
    leg: Leg,
}

impl Results {
    /// An empty folder for them.
    pub fn fresh(folder: PathBuf, leg: Leg) -> Result<Self, Failure> {
        let failed = |error: io::Error| format!("{}: {error}", folder.display());
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => fs::create_dir_all(folder.join("exits")).map_err(failed)?,
        }
        Ok(Self { folder, leg })
    }

    /// Where the suite is to write.
    pub fn output(&self) -> PathBuf {
        self.folder.join("output")
    }

    /// Where the watch is to write how clients ended.
    pub fn exits(&self) -> PathBuf {
        self.folder.join("exits")
    }

    /// Where what the suite prints is kept.
    pub fn log(&self) -> PathBuf {
        self.folder.join("log.txt")
    }

    /// The checks of a scenario; none if it was not run.
    pub fn checks(&self, scenario: &str) -> Result<Option<Vec<Check>>, Failure> {
        let (group, name) = match scenario.split_once('/') {
            Some((group, name)) => (Some(group), name),
            None => (None, scenario),
        };
        let folder = group.map_or_else(|| self.output(), |group| self.output().join(group));
        let wanted = match self.leg {
            Leg::Server => format!("server-{name}"),
            Leg::Client => name.to_owned(),
        };
        let mut found = folders(&folder)?;
        found.retain(|path| scenario_of(path).is_some_and(|name| name == wanted));
        match &found[..] {
            [] => Ok(None),
            [one] => check::read(&one.join("checks.json")).map(Some),
            _ => Err(format!("{scenario} was run more than once")),
        }
    }

    /// How the client of a scenario ended: its exit code, or what else
    /// happened. Nothing if it did not.
    pub fn exit(&self, scenario: &str) -> Option<String> {
        fs::read_to_string(exit_file(&self.exits(), scenario)).ok()
    }
}

/// The file that says how the client of a scenario ended.
pub fn exit_file(exits: &Path, scenario: &str) -> PathBuf {
    exits.join(scenario.replace('/', "+"))
}

/// The name in front of the time.
fn scenario_of(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let (scenario, time) = name.split_at_checked(name.len().checked_sub(TIME)?)?;
    (time.starts_with('-') && time.ends_with('Z')).then_some(scenario)
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries,
    };
    let paths = entries.and_then(|entries| {
        entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()
    });
    paths.map_err(|error| format!("{}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(name: &str, leg: Leg, folders: &[&str]) -> Results {
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/conformance-test");
        let results = Results::fresh(home.join(name), leg).unwrap();
        for folder in folders {
            let folder = results.output().join(folder);
            fs::create_dir_all(&folder).unwrap();
            let checks = r#"[{"id": "a", "status": "SUCCESS"}]"#;
            fs::write(folder.join("checks.json"), checks).unwrap();
        }
        results
    }

    #[test]
    fn a_name_that_begins_another_is_told_apart() {
        let results = recorded(
            "prefix",
            Leg::Client,
            &["json-schema-2020-12-preservation-2026-11-15T13-17-13-471Z"],
        );
        assert_eq!(results.checks("json-schema-2020-12"), Ok(None));
        let found = results.checks("json-schema-2020-12-preservation");
        assert_eq!(found.unwrap().unwrap().len(), 1);
    }

    #[test]
    fn servers_have_a_prefix_and_groups_a_folder() {
        let server = "server-ping-2026-11-15T13-17-11-074Z";
        let results = recorded("server", Leg::Server, &[server]);
        assert!(results.checks("ping").unwrap().is_some());
        let client = "auth/dpop-2026-11-15T13-17-56-804Z";
        let results = recorded("group", Leg::Client, &[client]);
        assert!(results.checks("auth/dpop").unwrap().is_some());
        assert_eq!(results.checks("dpop"), Ok(None));
    }

    #[test]
    fn two_runs_of_one_scenario_are_an_error() {
        let twice = [
            "server-ping-2026-11-15T13-17-11-074Z",
            "server-ping-2026-11-15T13-17-12-074Z",
        ];
        let results = recorded("twice", Leg::Server, &twice);
        assert!(results.checks("ping").is_err());
    }
}

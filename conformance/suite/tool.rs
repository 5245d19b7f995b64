//! The suite itself, as a program to run.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use crate::{
    Failure,
    results::Results,
    scenario::{self, Leg, Scenario, Set},
};

/// The suite as `cargo xtask conformance` has installed it.
#[derive(Debug)]
pub struct Tool {
    root: PathBuf,
}

impl Tool {
    /// The one below the `target` folder of this repository.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The scenarios of a set.
    pub async fn list(&self, set: Set) -> Result<Vec<Scenario>, Failure> {
        let mut command = self.command();
        command.arg("list");
        if let Set::Requirements(revision) = set {
            command.args(["--requirements", revision]);
        }
        let output = command.stderr(Stdio::inherit()).output().await;
        let output = output.map_err(|error| self.did_not_start(&error))?;
        if !output.status.success() {
            return Err(format!("the suite did not list: {}", output.status));
        }
        let scenarios = scenario::parse(&String::from_utf8_lossy(&output.stdout), set);
        match scenarios.len() {
            0 => Err(format!("the suite lists nothing for {set}")),
            _ => Ok(scenarios),
        }
    }

    /// Runs a set, or one scenario of it. How the suite ends says nothing that
    /// its results do not say better.
    pub async fn run(
        &self,
        set: Set,
        subject: &Subject,
        scenario: Option<&str>,
        results: &Results,
    ) -> Result<(), Failure> {
        let mut command = self.command();
        command.args(arguments(set, subject, scenario, results));
        let log = results.log();
        let file = File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
        let (out, err) = file.map_err(|error| format!("{}: {error}", log.display()))?;
        let status = command.stdout(out).stderr(err).status().await;
        status.map_err(|error| self.did_not_start(&error))?;
        Ok(())
    }

    /// The version that is pinned.
    pub fn version(&self) -> Result<String, Failure> {
        let text = include_str!("../package.json");
        let package: serde_json::Value =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let version = &package["dependencies"]["@modelcontextprotocol/conformance"];
        let version = version.as_str().ok_or("package.json names no suite")?;
        Ok(version.to_owned())
    }

    fn command(&self) -> Command {
        let modules = self.root.join("target/conformance/node/node_modules");
        let mut command = Command::new(modules.join(".bin/node"));
        command
            .arg("--import")
            .arg(self.root.join("conformance/loopback.mjs"))
            .arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    fn did_not_start(&self, error: &std::io::Error) -> Failure {
        format!("the suite did not start: {error} (`cargo xtask conformance` installs it)")
    }
}

/// What is examined.
#[derive(Debug)]
pub enum Subject {
    /// A server at this URL.
    Server(String),
    /// A client that is started by these words. The suite splits them at
    /// spaces.
    Client(Vec<String>),
}

fn arguments(
    set: Set,
    subject: &Subject,
    scenario: Option<&str>,
    results: &Results,
) -> Vec<String> {
    let (leg, flag, value) = match subject {
        Subject::Server(url) => (Leg::Server, "--url", url.clone()),
        Subject::Client(words) => (Leg::Client, "--command", words.join(" ")),
    };
    let mut arguments = vec![leg.word().to_owned(), flag.to_owned(), value];
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(ToString::to_string));
    match (set, scenario) {
        (Set::Requirements(revision), None) => add(&["--requirements", revision]),
        (Set::All, None) => add(&["--suite", "all"]),
        (Set::Requirements(revision), Some(scenario)) => {
            add(&["--scenario", scenario, "--spec-version", revision]);
            // Extensions are in no revision's window.
            add(&["--force"]);
        }
        (Set::All, Some(scenario)) => add(&["--scenario", scenario]),
    }
    add(&["--output-dir", &results.output().to_string_lossy()]);
    arguments
}

//! Runs the official conformance suite against our server and our client.
//!
//! `cargo xtask conformance` installs the suite, builds everything, and starts
//! this. See `README.md` beside it.

mod check;
mod expected;
mod fixture;
mod gate;
mod options;
mod report;
mod results;
mod scenario;
mod tool;
mod watch;

use std::{fs, path::Path, process::ExitCode};

use expected::Expected;
use fixture::Server;
use options::Options;
use report::{Outcome, Report};
use results::Results;
use scenario::{Leg, Scenario, Set};
use tool::{Subject, Tool};

/// What went wrong, in words for the person at the terminal.
type Failure = String;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("watch") => watch::run(&arguments[1..]).await.map(ExitCode::from),
        Some("-h" | "--help" | "help") => {
            print!("{}", options::USAGE);
            Ok(ExitCode::SUCCESS)
        }
        _ => examine(&arguments).await,
    };
    result.unwrap_or_else(|failure| {
        eprintln!("conformance: {failure}");
        ExitCode::FAILURE
    })
}

/// Runs what is asked for, prints what came of it, and judges.
async fn examine(arguments: &[String]) -> Result<ExitCode, Failure> {
    let options = Options::parse(arguments)?;
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = home.parent().unwrap_or(home);
    let tool = Tool::new(root);
    let mut outcomes = Vec::new();
    for set in options.sets() {
        let scenarios = tool.list(set).await?;
        for leg in options.legs() {
            let mut wanted = scenarios.clone();
            wanted.retain(|scenario| {
                let name = options.scenario.as_ref();
                scenario.leg == leg && name.is_none_or(|name| *name == scenario.name)
            });
            if !wanted.is_empty() {
                eprintln!("conformance: {leg}, {set}: {} scenarios", wanted.len());
                outcomes.extend(run(&tool, root, set, leg, wanted, &options).await?);
            }
        }
    }
    if outcomes.is_empty() {
        return Err("there is no such scenario".into());
    }
    let text = include_str!("../expected-failures.txt");
    let expected = Expected::parse(text)?;
    let report = Report { outcomes, expected };
    conclude(&report, &tool, home, options.whole())
}

/// Runs the scenarios of one set on one leg.
async fn run(
    tool: &Tool,
    root: &Path,
    set: Set,
    leg: Leg,
    scenarios: Vec<Scenario>,
    options: &Options,
) -> Result<Vec<Outcome>, Failure> {
    let folder = root.join(format!("target/conformance/results/{leg}-{set}"));
    let results = Results::fresh(folder, leg)?;
    let one = options.scenario.as_deref();
    match (leg, &options.url) {
        (Leg::Server, Some(url)) => {
            let subject = Subject::Server(url.clone());
            tool.run(set, &subject, one, &results).await?;
        }
        (Leg::Server, None) => {
            let server = Server::start().await?;
            let subject = Subject::Server(server.url.clone());
            tool.run(set, &subject, one, &results).await?;
            server.stop().await?;
        }
        (Leg::Client, _) => tool.run(set, &client(&results)?, one, &results).await?,
    }
    let mut outcomes = Vec::new();
    for scenario in scenarios {
        let checks = results.checks(&scenario.name)?;
        let exit = results.exit(&scenario.name);
        let verdict = gate::judge(leg, &scenario.name, checks.as_deref(), exit.as_deref());
        outcomes.push(Outcome {
            set,
            scenario,
            verdict,
        });
    }
    Ok(outcomes)
}

/// Our client, watched.
fn client(results: &Results) -> Result<Subject, Failure> {
    let words = [
        fixture::program("conformance-suite")?,
        "watch".into(),
        results.exits(),
        fixture::program("conformance-client")?,
    ];
    let words = words.map(|word| word.to_string_lossy().into_owned());
    match words.iter().find(|word| word.contains(' ')) {
        Some(word) => Err(format!("the suite cannot start what has a space: {word}")),
        None => Ok(Subject::Client(words.to_vec())),
    }
}

/// Prints the table, writes it if it is whole, and says what is wrong.
fn conclude(report: &Report, tool: &Tool, home: &Path, whole: bool) -> Result<ExitCode, Failure> {
    let text = report.markdown(&tool.version()?);
    if whole {
        let file = home.join("RESULTS.md");
        fs::write(&file, &text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    print!("{text}");
    let problems = report.problems(whole);
    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => Ok(ExitCode::SUCCESS),
        count => Err(format!(
            "{count} problems, see above; what the suite saw is in target/conformance/results"
        )),
    }
}

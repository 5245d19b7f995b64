//! Stands between the suite and a client, to see how that ends.
//!
//! The suite does not look at exit codes when it runs a whole set, and a client
//! that hangs it waits for, however long that takes. So it is given this
//! program as its client, which starts the real one.

use std::{env, fs, path::Path, process::ExitStatus, time::Duration};

use tokio::process::Command;

use crate::{Failure, results};

/// How long a client may take. The suite's own limit is 30 seconds.
const PATIENCE: Duration = Duration::from_secs(25);

/// Runs the client to its end, and notes how that was. Arguments: the folder
/// for notes, the program, and what is passed on.
pub async fn run(arguments: &[String]) -> Result<u8, Failure> {
    let [exits, program, rest @ ..] = arguments else {
        return Err("watch <folder> <program> [arguments]".into());
    };
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO")
        .map_err(|_| "only the suite can start this: it names the scenario".to_owned())?;
    let mut child = Command::new(program)
        .args(rest)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    let (note, code) = match tokio::time::timeout(PATIENCE, child.wait()).await {
        Ok(Ok(status)) => (describe(status), status.code().unwrap_or(1)),
        Ok(Err(error)) => (error.to_string(), 1),
        Err(_) => {
            let _ = child.kill().await;
            (format!("nothing after {} seconds", PATIENCE.as_secs()), 1)
        }
    };
    let file = results::exit_file(Path::new(exits), &scenario);
    fs::write(&file, note).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(u8::try_from(code).unwrap_or(1))
}

/// The exit code, or what else ended it.
fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => code.to_string(),
        None => status.to_string(),
    }
}

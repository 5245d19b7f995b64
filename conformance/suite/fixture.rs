//! The programs under test, which stand beside this one.

use std::{env, path::PathBuf, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::Failure;

/// How long the server may take to come up.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server of ours that runs as long as this lives.
#[derive(Debug)]
pub struct Server {
    pub url: String,
    child: Child,
}

impl Server {
    /// Starts it, and waits for it to say where it listens.
    pub async fn start() -> Result<Self, Failure> {
        let mut child = Command::new(program("conformance-server")?)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("the server did not start: {error}"))?;
        let out = child.stdout.take().ok_or("the server has no output")?;
        let mut lines = BufReader::new(out).lines();
        let first = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        match first {
            Ok(Ok(Some(url))) if url.starts_with("http://") => Ok(Self { url, child }),
            said => Err(format!("the server did not say where it listens: {said:?}")),
        }
    }

    /// Ends it. That it ran until now is part of the test.
    pub async fn stop(mut self) -> Result<(), Failure> {
        match self.child.try_wait() {
            Ok(None) => {
                let _ = self.child.kill().await;
                Ok(())
            }
            ended => Err(format!("the server ended in the middle: {ended:?}")),
        }
    }
}

/// A program that was built with this one.
pub fn program(name: &str) -> Result<PathBuf, Failure> {
    let this = env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    let program = this.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX));
    if program.exists() {
        Ok(program)
    } else {
        Err(format!("{} is not built", program.display()))
    }
}

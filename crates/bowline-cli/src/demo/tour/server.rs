//! The tour's server process, and the connection to it.

use std::time::{Duration, Instant};

use bowline::{
    Backoff, Client,
    client::{ConnectionState, Health},
    transport::{ChildProcess, StderrPolicy},
};
use tokio::{sync::watch, task::JoinHandle};

use super::{
    super::READY,
    assertion_failed,
    dialogue::{self, DialogueLog},
    with_step_timeout,
};
use crate::{context::Context, failure::Failure};

/// Delays between connection attempts: shorter than usual, to keep the tour
/// short.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(300), Duration::from_secs(2));

/// The server and the connection to it.
pub(super) struct TourServer {
    pub(super) client: Client,
    /// The dialogue so far.
    pub(super) dialogue: DialogueLog,
    /// How long it took to start the server and open the session.
    pub(super) startup_time: Duration,
    process_id: watch::Receiver<Option<u32>>,
}

impl TourServer {
    /// Starts the server and connects to it.
    pub(super) async fn start(cx: &Context) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let (sender, process_id) = watch::channel(None);
        let server = ChildProcess::new(program)
            .args(["serve", "demo", "--stdio"])
            .inherit_env()
            .stderr(StderrPolicy::lines(move |line| {
                if let Some(number) = parse_process_id(line) {
                    sender.send_replace(Some(number));
                }
            }));
        let log = DialogueLog::default();
        let (min_delay, max_delay) = BACKOFF;
        let backoff = Backoff::new(min_delay, max_delay, 0.2)
            .map_err(|error| assertion_failed(error.to_string()))?;
        let builder = Client::builder()
            .client_info("bowline-demo", env!("CARGO_PKG_VERSION"))
            .backoff(backoff);
        let started = Instant::now();
        let client = dialogue::with_scripted_answers(builder, &log).connect_in_background(server);
        cx.shutdown.register(&client);
        client.wait_first_attempt().await?;
        Ok(Self {
            client,
            dialogue: log,
            startup_time: started.elapsed(),
            process_id,
        })
    }

    /// Returns the server's process id, once it was announced and is not
    /// `previous`.
    pub(super) async fn wait_process_id(&mut self, previous: Option<u32>) -> Result<u32, Failure> {
        let announced = self
            .process_id
            .wait_for(|number| number.is_some() && *number != previous);
        let announced =
            with_step_timeout("the server to announce its process id", announced).await?;
        announced
            .ok()
            .and_then(|number| *number)
            .ok_or_else(|| assertion_failed("the server did not announce its process id"))
    }
}

/// Parses the process id from the line with which a server announces itself.
fn parse_process_id(line: &str) -> Option<u32> {
    let (_, number) = line.split_once(READY)?;
    number.trim().parse().ok()
}

/// Measures how long it takes from now until a new session is open.
pub(super) fn measure_recovery(client: &Client) -> JoinHandle<Duration> {
    let mut health = client.watch_health();
    let (previous, start) = (client.health().sessions, Instant::now());
    tokio::spawn(async move {
        let is_recovered =
            |now: &Health| now.sessions > previous && now.state == ConnectionState::Ready;
        // If the client was stopped, the next call fails.
        let _ = health.wait_for(is_recovered).await;
        start.elapsed()
    })
}

/// Returns the command that would end a process as [`kill`] does.
pub(super) fn kill_command(process_id: u32) -> String {
    if cfg!(unix) {
        format!("kill -9 {process_id}")
    } else {
        "bowline call demo.crash".to_owned()
    }
}

/// Kills the server process immediately.
#[cfg(unix)]
pub(super) async fn kill(_: &Client, process_id: u32) -> Result<(), Failure> {
    use rustix::process::{Pid, Signal, kill_process};
    let number = i32::try_from(process_id).ok().and_then(Pid::from_raw);
    let number = number
        .ok_or_else(|| assertion_failed(format!("{process_id} is not a valid process id")))?;
    kill_process(number, Signal::KILL)
        .map_err(|error| assertion_failed(format!("cannot kill it: {error}")))
}

/// Makes the server process exit by itself.
#[cfg(not(unix))]
pub(super) async fn kill(client: &Client, _: u32) -> Result<(), Failure> {
    // It exits before it can respond.
    let _ = client.tools().call("crash", serde_json::json!({})).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_announces_itself() {
        assert_eq!(parse_process_id(&format!("demo: {READY}42")), Some(42));
        assert_eq!(parse_process_id("demo: counting, 4 of 5"), None);
    }
}

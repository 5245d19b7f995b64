//! The server of the tour, a process of its own, and the connection to it.

use std::time::{Duration, Instant};

use bowline::{
    Client,
    client::Health,
    proto::client::{Backoff, StateName},
    transport::{ChildProcess, StderrPolicy},
};
use tokio::{sync::watch, task::JoinHandle};

use super::{
    super::READY,
    cast::{self, Script},
    untrue, wait,
};
use crate::{context::Context, failure::Failure};

/// The waits between attempts to connect: shorter than usual, since nobody
/// wants to wait on a tour.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(300), Duration::from_secs(2));

/// The server, and the connection to it.
pub(super) struct Stage {
    pub(super) client: Client,
    /// What was said in conversations.
    pub(super) script: Script,
    /// How long it took to start the server and to agree on how to speak.
    pub(super) took: Duration,
    process: watch::Receiver<Option<u32>>,
}

impl Stage {
    /// Starts the server and connects to it.
    pub(super) async fn set(cx: &Context) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let (tell, process) = watch::channel(None);
        let server = ChildProcess::new(program)
            .args(["serve", "demo", "--stdio"])
            .inherit_env()
            .stderr(StderrPolicy::lines(move |line| {
                if let Some(number) = process_of(line) {
                    tell.send_replace(Some(number));
                }
            }));
        let script = Script::default();
        let (shortest, longest) = BACKOFF;
        let backoff =
            Backoff::new(shortest, longest, 0.2).map_err(|bad| untrue(bad.to_string()))?;
        let builder = Client::builder()
            .identity("bowline-demo", env!("CARGO_PKG_VERSION"))
            .backoff(backoff);
        let started = Instant::now();
        let client = cast::answer(builder, &script).connect_later(server);
        cx.departure.includes(&client);
        client.opened().await?;
        Ok(Self {
            client,
            script,
            took: started.elapsed(),
            process,
        })
    }

    /// The number of the server's process, once it has said so and it is not
    /// `before`.
    pub(super) async fn process(&mut self, before: Option<u32>) -> Result<u32, Failure> {
        let said = self
            .process
            .wait_for(|number| number.is_some() && *number != before);
        let said = wait("the server to say which process it is", said).await?;
        said.ok()
            .and_then(|number| *number)
            .ok_or_else(|| untrue("the server did not say which process it is"))
    }
}

/// The number in the line with which a server announces itself.
fn process_of(line: &str) -> Option<u32> {
    let (_, number) = line.split_once(READY)?;
    number.trim().parse().ok()
}

/// Measures how long it takes from now until a new session is open.
pub(super) fn until_back(client: &Client) -> JoinHandle<Duration> {
    let mut health = client.watch_health();
    let (before, since) = (client.health().sessions, Instant::now());
    tokio::spawn(async move {
        let back = |now: &Health| now.sessions > before && now.state == StateName::Ready;
        // If there is no connection any more, whoever uses it will notice.
        let _ = health.wait_for(back).await;
        since.elapsed()
    })
}

/// The command that would end a process as [`kill`] does.
pub(super) fn how_to_kill(process: u32) -> String {
    if cfg!(unix) {
        format!("kill -9 {process}")
    } else {
        "bowline call demo.crash".to_owned()
    }
}

/// Ends the server's process, at once and whatever it does.
#[cfg(unix)]
pub(super) async fn kill(_: &Client, process: u32) -> Result<(), Failure> {
    use rustix::process::{Pid, Signal, kill_process};
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    let number = number.ok_or_else(|| untrue(format!("{process} is not a process")))?;
    kill_process(number, Signal::KILL).map_err(|error| untrue(format!("cannot kill it: {error}")))
}

/// Ends the server's process, by its own hand.
#[cfg(not(unix))]
pub(super) async fn kill(client: &Client, _: u32) -> Result<(), Failure> {
    // It ends before it can answer.
    let _ = client.tools().call("crash", serde_json::json!({})).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_announces_itself() {
        assert_eq!(process_of(&format!("demo: {READY}42")), Some(42));
        assert_eq!(process_of("demo: counting, 4 of 5"), None);
    }
}

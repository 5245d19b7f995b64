//! The guided tour: shows what the command can do, on its own server process,
//! which is killed on the way.
//!
//! Everything shown has just happened. `server` is the server and the
//! connection to it, `dialogue` answers the server's questions, `steps` is what
//! happens, and `screen` prints it.

mod dialogue;
mod screen;
mod server;
mod steps;

use std::time::Duration;

use self::{screen::Screen, server::TourServer};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    target::interruptible,
};

/// Time limit of each step.
const STEP_TIMEOUT: Duration = Duration::from_secs(20);

/// Runs the tour, with pauses for reading unless `fast`.
pub(crate) async fn run(cx: &Context, fast: bool) -> Result<(), Failure> {
    let mut screen = Screen::new(cx, fast);
    let result = interruptible(run_tour(&mut screen)).await;
    screen.finish(result.is_ok())?;
    result
}

async fn run_tour(screen: &mut Screen<'_>) -> Result<(), Failure> {
    steps::welcome(screen).await?;
    let mut tour_server = steps::connect(screen).await?;
    let result = run_steps(screen, &mut tour_server).await;
    tour_server.client.stop().await;
    result?;
    steps::next_steps(screen).await
}

async fn run_steps(screen: &mut Screen<'_>, tour_server: &mut TourServer) -> Result<(), Failure> {
    steps::list(screen, tour_server).await?;
    steps::call(screen, tour_server).await?;
    steps::read(screen, tour_server).await?;
    steps::ask(screen, tour_server).await?;
    let mut clock = steps::watch(screen, tour_server).await?;
    let killed = steps::kill(screen, tour_server).await?;
    steps::show_recovery(screen, tour_server, &mut clock, killed).await
}

/// Waits for something, with a time limit.
async fn with_step_timeout<T>(what: &str, work: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::time::timeout(STEP_TIMEOUT, work).await.map_err(|_| {
        let message = format!("the tour timed out after {STEP_TIMEOUT:?}, waiting for {what}");
        Failure::new(FailureKind::Timeout, message)
    })
}

/// Returns the failure for something that should have happened.
fn assertion_failed(what: impl Into<String>) -> Failure {
    Failure::failed(format!("the tour failed: {}", what.into()))
}

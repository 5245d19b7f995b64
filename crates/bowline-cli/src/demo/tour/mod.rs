//! The guided tour: what the command can do, shown on a server of its own,
//! which is killed on the way.
//!
//! Everything that is shown has just happened. `stage` is the server and the
//! connection to it, `cast` answers what the server asks, `scenes` is what
//! happens, and `screen` how it is shown.

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

/// How long any one thing may take before the tour gives up.
const STEP_TIMEOUT: Duration = Duration::from_secs(20);

/// Shows everything. With pauses to read in, unless it should be fast.
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

/// Waits for something, but not for ever.
async fn with_step_timeout<T>(what: &str, work: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::time::timeout(STEP_TIMEOUT, work).await.map_err(|_| {
        let message = format!("the tour waited {STEP_TIMEOUT:?} in vain for {what}");
        Failure::new(FailureKind::Timeout, message)
    })
}

/// Something that was told did not come true.
fn assertion_failed(what: impl Into<String>) -> Failure {
    Failure::failed(format!("the tour went wrong: {}", what.into()))
}

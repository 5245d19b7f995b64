//! The guided tour: what the command can do, shown on a server of its own,
//! which is killed on the way.
//!
//! Everything that is shown has just happened. `stage` is the server and the
//! connection to it, `cast` answers what the server asks, `scenes` is what
//! happens, and `screen` how it is shown.

mod cast;
mod scenes;
mod screen;
mod stage;

use std::time::Duration;

use self::{screen::Screen, stage::Stage};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    target::interruptible,
};

/// How long any one thing may take before the tour gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Shows everything. With pauses to read in, unless it should be fast.
pub(crate) async fn run(cx: &Context, fast: bool) -> Result<(), Failure> {
    let mut screen = Screen::new(cx, fast);
    let shown = interruptible(show(&mut screen)).await;
    screen.end(shown.is_ok())?;
    shown
}

async fn show(screen: &mut Screen<'_>) -> Result<(), Failure> {
    scenes::welcome(screen).await?;
    let mut stage = scenes::connect(screen).await?;
    let shown = perform(screen, &mut stage).await;
    stage.client.stop().await;
    shown?;
    scenes::farewell(screen).await
}

async fn perform(screen: &mut Screen<'_>, stage: &mut Stage) -> Result<(), Failure> {
    scenes::list(screen, stage).await?;
    scenes::call(screen, stage).await?;
    scenes::read(screen, stage).await?;
    scenes::ask(screen, stage).await?;
    let mut clock = scenes::watch(screen, stage).await?;
    let killed = scenes::kill(screen, stage).await?;
    scenes::come_back(screen, stage, &mut clock, killed).await
}

/// Waits for something, but not for ever.
async fn wait<T>(what: &str, work: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::time::timeout(PATIENCE, work).await.map_err(|_| {
        let message = format!("the tour waited {PATIENCE:?} in vain for {what}");
        Failure::new(FailureKind::Timeout, message)
    })
}

/// Something that was told did not come true.
fn untrue(what: impl Into<String>) -> Failure {
    Failure::failed(format!("the tour went wrong: {}", what.into()))
}

//! What happens once in a conversation, however often it is replayed.

use std::future::Future;

use serde::{Serialize, de::DeserializeOwned};

use super::{ask::put_off, call::Call};
use crate::server::{
    error::{Error, ErrorKind, Result},
    replay::{
        journal::{Mark, Outcome},
        stage::{Entered, Stage},
    },
};

tokio::task_local! {
    /// There while a step is under way, for all that is polled within it.
    static IN_A_STEP: ();
}

/// Whether this is polled within a step.
///
/// What a step asks or does in steps of its own is not in the journal once the
/// step itself is, so that the conversation would not come to it again. Live it
/// could be done, but it is refused there, too: then it is found out.
pub(super) fn in_a_step() -> bool {
    IN_A_STEP.try_with(|()| ()).is_ok()
}

pub(super) fn not_in_a_step(what: &str) -> Error {
    Error::of(
        ErrorKind::InvalidQuestion,
        format!("a step must not {what}"),
    )
}

impl Call {
    /// Takes a step, or tells what came of it before.
    ///
    /// Live, its value takes the way through JSON, too: a type that does not
    /// survive that is found out on the first try, not in another era.
    pub(crate) async fn step<T: Serialize + DeserializeOwned>(
        &self,
        id: &str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if in_a_step() {
            return Err(not_in_a_step("take steps of its own"));
        }
        let work = IN_A_STEP.scope((), async { Outcome::of(work.await) });
        let outcome = match &self.stage {
            None => work.await,
            Some(stage) => self.step_on_stage(stage, id, work).await?,
        };
        outcome.read()
    }

    async fn step_on_stage(
        &self,
        stage: &Stage,
        id: &str,
        work: impl Future<Output = Outcome>,
    ) -> Result<Outcome> {
        let mark = Mark::of_step(id);
        match stage.enter(id, mark) {
            // Nothing is told to what diverged, until all ends.
            Entered::Recorded | Entered::Diverged => {}
            Entered::New => {
                let running = stage.begin(id, mark).await.ok_or_else(put_off)?;
                let ended = match &self.claims {
                    None => Ok(work.await),
                    Some(claims) => claims.once(id, work).await,
                };
                match ended {
                    Ok(outcome) => running.end(outcome),
                    Err(error) => stage.fail(error),
                }
            }
        }
        stage.told(id).await.ok_or_else(put_off)
    }
}

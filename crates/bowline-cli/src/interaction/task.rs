//! The task that a call became: waited for, or left to itself.

use std::time::Duration;

use bowline::{
    Error,
    client::{TaskHandle, TaskOutcome},
    model::{InputRequests, InputResponses},
};
use tokio::time::{MissedTickBehavior, interval};

use super::{
    CallOutcome, TaskChoice,
    progress::Progress,
    rounds::{MAX_ROUNDS, Rounds, TICK},
    suspended::{StoredTask, StoredWork},
};
use crate::failure::{Failure, FailureKind};

/// How long a command that fails waits until its task is cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(250);

impl Rounds<'_> {
    /// Handles a task that was just created.
    pub(super) async fn task_created(&mut self, task: TaskHandle) -> Result<CallOutcome, Failure> {
        match self.task {
            TaskChoice::Wait => {
                // Whoever interrupts the command gives up the call.
                let task = task.cancel_on_drop(self.stored.is_none());
                self.follow_task(task, InputResponses::default()).await
            }
            TaskChoice::Detach => {
                let questions = task.info().questions.clone();
                self.store_task(&task, questions, &InputResponses::default())?;
                Ok(CallOutcome::Task(self.suspended(&[])))
            }
        }
    }

    /// Waits for a task and answers its questions. Without answers, the task waits.
    pub(super) async fn follow_task(
        &mut self,
        mut task: TaskHandle,
        mut answers: InputResponses,
    ) -> Result<CallOutcome, Failure> {
        for _ in 0..=MAX_ROUNDS {
            let questions = match self.wait(&mut task).await {
                Ok(TaskOutcome::Done(result)) => {
                    self.remove_stored()?;
                    return Ok(CallOutcome::Done(result));
                }
                Ok(TaskOutcome::InputRequired(questions)) => questions,
                Err(failure) => {
                    self.cancel_unless_stored(&mut task).await;
                    return Err(self.task_failure(&task, failure));
                }
            };
            let open_questions = self.answer(&questions, &mut answers).await?;
            self.cx.responder.set_suspended_done(true);
            if !open_questions.is_empty() {
                self.store_task(&task, questions, &answers)?;
                // It goes on without us from here.
                drop(task.cancel_on_drop(false));
                return Ok(CallOutcome::Suspended(self.suspended(&open_questions)));
            }
            let sent = task.answer(std::mem::take(&mut answers)).await;
            sent.map_err(|error| self.task_failure(&task, error.into()))?;
        }
        Err(self.keeps_asking())
    }

    /// Waits until the task has ended or asks, within the time of the command.
    async fn wait(&self, task: &mut TaskHandle) -> Result<TaskOutcome, Failure> {
        let responder = &self.cx.responder;
        let mut progress = Progress::new(&responder.screen, self.tool, responder.plain_progress());
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut outcome = std::pin::pin!(task.wait_for_input());
        loop {
            // Answers do not count, so the time left changes.
            let time_left = self.cx.time_left();
            let expired = async {
                match time_left {
                    Some(time_left) => tokio::time::sleep(time_left).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                outcome = &mut outcome => return outcome.map_err(|error: Error| error.into()),
                () = expired => {
                    let message = "the task has not ended in time";
                    return Err(Failure::new(FailureKind::Timeout, message)
                        .hint("raise the limit with --timeout SECONDS"));
                }
                _ = ticks.tick() => progress.tick(),
            }
        }
    }

    /// Cancels a task that nobody could wait for again.
    async fn cancel_unless_stored(&self, task: &mut TaskHandle) {
        if self.stored.is_none() && !task.status().is_terminal() {
            // The command is about to end, in time or not.
            let _ = tokio::time::timeout(CANCEL_TIMEOUT, task.cancel()).await;
        }
    }

    /// Handles the failure of a task. If the task may go on, it stays stored.
    fn task_failure(&mut self, task: &TaskHandle, failure: Failure) -> Failure {
        let is_over = task.status().is_terminal() || failure.kind == FailureKind::Failed;
        match &self.stored {
            Some(_) if is_over => {
                // An error of the store matters less.
                let _ = self.remove_stored();
                failure
            }
            Some(stored) => failure.hint(format!(
                "the task may still go on: `bowline tasks wait {}` waits for it again",
                stored.id
            )),
            None => failure,
        }
    }

    fn store_task(
        &mut self,
        task: &TaskHandle,
        questions: InputRequests,
        answers: &InputResponses,
    ) -> Result<(), Failure> {
        let stored = StoredTask {
            saved: task.saved(),
            questions,
        };
        self.store(StoredWork::Task(stored), answers)
    }
}

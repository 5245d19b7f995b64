//! Taking the steps that a `TaskPoller` decides on.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep_until, timeout};

use super::{changes::FollowedTask, request, request_options};
use crate::{
    client::shared::Shared,
    proto::{
        client::{Failure, Outcome, Request, TaskPoller, TaskStep},
        model::{
            CoreTaskResultParams, GetTaskParams, InputRequests, InputResponses, TaskStatus,
            UpdateTaskParams,
        },
        task::Dialect,
    },
};

/// Who answers the questions of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Questions {
    /// The handlers of the client.
    Handlers,
    /// The caller.
    Caller,
}

/// Why following a task has stopped.
pub(super) enum FollowEnd {
    Done(Outcome),
    /// The caller must answer.
    Asked(InputRequests),
}

/// Returns how the current session speaks of tasks. Responses are read accordingly: a
/// task may be followed over connections of different revisions.
pub(super) fn dialect(shared: &Shared) -> Dialect {
    let dialect = shared.lock().machine.task_dialect();
    dialect.unwrap_or(Dialect::Extension)
}

/// Follows a task until it ends, is given up, or asks the caller. May be dropped and
/// called again at any time.
pub(super) async fn follow(
    shared: &Arc<Shared>,
    poller: &mut TaskPoller,
    request_timeout: Option<Duration>,
    questions: Questions,
) -> FollowEnd {
    let id = poller.info().id.clone();
    let mut followed = FollowedTask::new(shared, &id);
    let send = |request: Request| {
        let options = request_options(request_timeout);
        shared.request(request, options, None)
    };
    loop {
        match poller.next(shared.now()) {
            TaskStep::Wait { until } => {
                tokio::select! {
                    () = sleep_until(shared.to_tokio_instant(until)) => {}
                    () = followed.changed() => poller.hint(shared.now()),
                }
            }
            TaskStep::Get => {
                let outcome = send(request(GetTaskParams::new(&*id))).await;
                poller.handle_get(shared.now(), dialect(shared), outcome);
                if poller.info().status == TaskStatus::Working {
                    followed.subscribe();
                }
            }
            TaskStep::GetResult => {
                let outcome = send(request(CoreTaskResultParams::new(&*id))).await;
                poller.handle_result(outcome);
            }
            TaskStep::Update(answers) => {
                let outcome = send(request(UpdateTaskParams::new(&*id, answers))).await;
                poller.handle_update(shared.now(), outcome);
            }
            TaskStep::Ask(asked) => match questions {
                Questions::Caller => return FollowEnd::Asked(asked),
                Questions::Handlers => match ask(shared, asked).await {
                    Ok(answers) => poller.handle_answers(shared.now(), answers),
                    Err(failure) => poller.fail(failure),
                },
            },
            TaskStep::Done(outcome) => return FollowEnd::Done(outcome),
        }
    }
}

/// Asks the handlers, as it is done for calls.
async fn ask(
    shared: &Arc<Shared>,
    questions: InputRequests,
) -> Result<Option<InputResponses>, Failure> {
    let prepared = shared.lock().machine.prepare_questions(questions)?;
    let limit = shared.settings.timeouts.input;
    let answers = shared.host.handle_inputs(prepared.questions);
    let Ok(answers) = timeout(limit, answers).await else {
        return Err(Failure::Timeout { after: limit });
    };
    Ok(answers.map(|mut answers| {
        for (key, answer) in prepared.answers {
            answers.insert(key, answer);
        }
        answers
    }))
}

//! A call that became a task and waits for it.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::follow::{FollowEnd, Questions, follow};
use crate::{
    client::{Client, Error, call, shared::Shared},
    proto::{
        client::{Failure, Outcome, TaskPoller},
        model::{CallToolResult, method},
        task::TaskInfo,
    },
    transport::BoxFuture,
};

/// A task that is cancelled when nobody waits for it any more.
struct CancelOnDrop<'a> {
    shared: &'a Arc<Shared>,
    poller: TaskPoller,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if !self.poller.has_ended() {
            let id = &self.poller.info().id;
            self.shared
                .command(|machine, now| machine.cancel_task(now, id));
        }
    }
}

/// Follows the task that a call became, for at most `limit`. If the task is given up, or
/// the future is dropped, the task is cancelled.
pub(crate) async fn follow_call(
    client: &Client,
    info: TaskInfo,
    request_timeout: Option<Duration>,
    limit: Duration,
    signal: Option<BoxFuture<'_, ()>>,
) -> Result<CallToolResult, Error> {
    let shared = client.shared();
    let poller = TaskPoller::new(shared.now(), info, shared.settings.max_input_rounds);
    let mut task = CancelOnDrop { shared, poller };
    let cancelled = async {
        match signal {
            Some(signal) => signal.await,
            None => std::future::pending().await,
        }
    };
    let end = follow(
        shared,
        &mut task.poller,
        request_timeout,
        Questions::Handlers,
    );
    let outcome = tokio::select! {
        biased;
        end = timeout(limit, end) => match end {
            Ok(FollowEnd::Done(outcome)) => outcome,
            Ok(FollowEnd::Asked(_)) => Outcome::Failed(Failure::InputNotProvided),
            Err(_) => Outcome::Failed(Failure::Timeout { after: limit }),
        },
        () = cancelled => Outcome::Failed(Failure::Cancelled),
    };
    call::decode_outcome(shared, method::TOOLS_CALL, outcome)
}

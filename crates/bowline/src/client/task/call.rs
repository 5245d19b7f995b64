//! A call that became a task and waits for it.

use std::time::Duration;

use tokio::time::timeout;

use super::TaskHandle;
use crate::{
    client::{Client, Error},
    proto::{
        client::Failure,
        model::{CallToolResult, method},
        task::TaskInfo,
    },
    transport::BoxFuture,
};

/// Follows the task that a call became, for at most `limit`. If the task is given up, or
/// the future is dropped, the task is cancelled.
pub(crate) async fn follow_call(
    client: &Client,
    info: TaskInfo,
    request_timeout: Option<Duration>,
    limit: Duration,
    signal: Option<BoxFuture<'_, ()>>,
) -> Result<CallToolResult, Error> {
    let mut task = TaskHandle::new(client, info, request_timeout).cancel_on_drop(true);
    let cancelled = async {
        match signal {
            Some(signal) => signal.await,
            None => std::future::pending().await,
        }
    };
    let failure = tokio::select! {
        biased;
        result = timeout(limit, task.wait()) => match result {
            Ok(result) => return result,
            Err(_) => Failure::Timeout { after: limit },
        },
        () = cancelled => Failure::Cancelled,
    };
    Err(Error::failed(method::TOOLS_CALL, failure))
}

//! A handle to a task.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{
    SavedTask, ToolResponse,
    follow::{FollowEnd, Questions, dialect, follow},
    request, request_options,
};
use crate::{
    client::{Client, Error, call},
    proto::{
        client::{Failure, Outcome, Request, TaskPoller, TaskStep},
        jsonrpc::code,
        model::{
            CallToolResult, CancelTaskParams, GetTaskParams, InputRequests, InputResponses,
            TaskStatus, UpdateTaskParams, method,
        },
        task::{Dialect, TaskInfo},
    },
};

/// A task of the server: a call whose result is fetched later.
///
/// The task does not depend on the handle: dropping the handle, or the future of one of
/// its methods, changes nothing, unless [`cancel_on_drop`](Self::cancel_on_drop) is set.
/// To end the task, [`cancel`](Self::cancel) it. To wait for it in another process,
/// [save](Self::saved) it. The handle keeps its client open.
///
/// ```
/// # use bowline::{Client, Error, client::TaskOrResult};
/// # async fn example(client: &Client) -> Result<(), Box<dyn std::error::Error>> {
/// match client.tools().call("render", serde_json::json!({"frames": 240})).as_task().await? {
///     TaskOrResult::Task(mut task) => {
///         let saved = serde_json::to_string(&task.saved())?;
///         // Another process can go on from here with `saved`; or we wait ourselves.
///         let result = task.wait().await?;
/// #       drop((saved, result));
///     }
///     TaskOrResult::Result(result) => println!("{}", result.all_text()),
/// }
/// # Ok(()) }
/// ```
pub struct TaskHandle {
    client: Client,
    poller: Box<TaskPoller>,
    request_timeout: Option<Duration>,
    cancels_on_drop: bool,
}

/// What a call became that may become a task. See [`ToolCall::as_task`].
///
/// [`ToolCall::as_task`]: crate::client::ToolCall::as_task
#[derive(Debug)]
pub enum TaskOrResult {
    /// A task. It goes on without us.
    Task(TaskHandle),
    /// The server answered at once.
    Result(Box<CallToolResult>),
}

/// Why waiting for a task has stopped. See [`TaskHandle::wait_for_input`].
#[derive(Debug)]
pub enum TaskOutcome {
    /// The task is complete.
    Done(Box<CallToolResult>),
    /// The server needs answers to these questions, by key.
    InputRequired(InputRequests),
}

impl TaskHandle {
    pub(super) fn new(client: &Client, info: TaskInfo, request_timeout: Option<Duration>) -> Self {
        Self::with_poller(client, poller(client, info), request_timeout)
    }

    pub(super) fn resume(client: &Client, saved: SavedTask) -> Self {
        let (info, remaining, answered) = saved.into_parts(unix_time());
        let poller = poller(client, info).resume(remaining, answered);
        Self::with_poller(client, poller, None)
    }

    fn with_poller(client: &Client, poller: TaskPoller, request_timeout: Option<Duration>) -> Self {
        Self {
            client: client.clone(),
            poller: Box::new(poller),
            request_timeout,
            cancels_on_drop: false,
        }
    }

    /// Returns the id of the task, which is unique on its server.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.info().id
    }

    /// Returns the status that the server last reported.
    #[must_use]
    pub fn status(&self) -> &TaskStatus {
        &self.info().status
    }

    /// Returns all that the server last reported.
    #[must_use]
    pub fn info(&self) -> &TaskInfo {
        self.poller.info()
    }

    /// Sets how long the server may take to respond to each request about the task: by
    /// default that of the call, or the client's [`Timeouts`](crate::Timeouts) for a handle
    /// from [`Tasks::resume`](super::Tasks::resume) or [`Tasks::get`](super::Tasks::get).
    /// While waiting for the task, a poll that times out is sent again. Other methods fail.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = Some(timeout);
        self
    }

    /// Sets whether to cancel the task when the handle is dropped before the task has
    /// ended: `false` by default.
    #[must_use]
    pub fn cancel_on_drop(mut self, cancel: bool) -> Self {
        self.cancels_on_drop = cancel;
        self
    }

    /// Returns what another process needs to wait for the task.
    #[must_use]
    pub fn saved(&self) -> SavedTask {
        let now = self.client.shared().now();
        let remaining = self.poller.expires_at().map(|expiry| expiry - now);
        SavedTask::new(&self.poller, remaining, unix_time())
    }

    /// Asks the server for the state of the task, once.
    ///
    /// # Errors
    ///
    /// Returns an error if the task does not exist or belongs to another caller, or there
    /// is no response.
    pub async fn refresh(&mut self) -> Result<&TaskInfo, Error> {
        let shared = self.client.shared();
        let outcome = self.send(request(GetTaskParams::new(self.id()))).await;
        let dialect = dialect(shared);
        self.poller.retry(shared.now());
        self.poller
            .handle_get(shared.now(), dialect, outcome.clone());
        call::outcome_bytes(shared, method::TASKS_GET, outcome)?;
        match self.poller.next(shared.now()) {
            TaskStep::Done(Outcome::Failed(failure @ Failure::InvalidResponse { .. })) => {
                Err(Error::failed(method::TASKS_GET, failure))
            }
            _ => Ok(self.poller.info()),
        }
    }

    /// Waits until the task has ended, and returns the result of the call.
    ///
    /// The state is requested again and again, as often as the server asks for, but at
    /// least 20 ms and at most 60 s apart. Questions go to the handlers of
    /// [`ClientBuilder`](crate::client::ClientBuilder), each once. A lost connection is
    /// waited for. There is no time limit except the task's own: set one with
    /// `tokio::time::timeout`, if need be.
    ///
    /// # Errors
    ///
    /// Returns an error if the call failed, the task was cancelled or exceeded its time
    /// to live, it does not exist or belongs to another caller, a question was not
    /// answered, the server asked too often (see
    /// [`max_input_rounds`](crate::client::ClientBuilder::max_input_rounds)), or requests
    /// about the task failed too often. In the last three cases, it may be waited for
    /// again.
    pub async fn wait(&mut self) -> Result<CallToolResult, Error> {
        match self.follow(Questions::Handlers).await {
            FollowEnd::Done(outcome) => self.decode(outcome),
            FollowEnd::Asked(_) => self.decode(Outcome::Failed(Failure::InputNotProvided)),
        }
    }

    /// Waits until the task has ended or has questions, which are returned instead of
    /// passed to the handlers. [Answer](Self::answer) them, then wait again.
    ///
    /// In revision 2025-11-25, questions arrive as requests from the server, so they still
    /// go to the handlers.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`wait`](Self::wait).
    pub async fn wait_for_input(&mut self) -> Result<TaskOutcome, Error> {
        match self.follow(Questions::Caller).await {
            FollowEnd::Done(outcome) => self
                .decode(outcome)
                .map(|result| TaskOutcome::Done(Box::new(result))),
            FollowEnd::Asked(questions) => Ok(TaskOutcome::InputRequired(questions)),
        }
    }

    /// Sends answers to the questions of the task, by their keys. They need not be all.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response, or the server rejects an answer. In
    /// revision 2025-11-25, questions are answered by the handlers only.
    pub async fn answer(&mut self, answers: InputResponses) -> Result<(), Error> {
        let update = UpdateTaskParams::new(self.id(), answers.clone());
        let outcome = self.send(request(update)).await;
        let shared = self.client.shared();
        call::outcome_bytes(shared, method::TASKS_UPDATE, outcome)?;
        self.poller.mark_answered(shared.now(), &answers);
        Ok(())
    }

    /// Cancels the task. The server may still complete it, and need not stop the work;
    /// [`wait`](Self::wait) tells how it ended. A task that has ended stays as it is.
    ///
    /// # Errors
    ///
    /// Returns an error if the task does not exist or belongs to another caller, or there
    /// is no response.
    pub async fn cancel(&mut self) -> Result<(), Error> {
        let outcome = self.send(request(CancelTaskParams::new(self.id()))).await;
        let is_refused =
            matches!(&outcome, Outcome::Error(error) if error.code == code::INVALID_PARAMS);
        if is_refused
            && dialect(self.client.shared()) == Dialect::Core
            && self.refresh().await.is_ok()
        {
            // The core refuses to cancel a task that has ended.
            return Ok(());
        }
        let shared = self.client.shared();
        self.poller.hint(shared.now());
        call::outcome_bytes(shared, method::TASKS_CANCEL, outcome).map(drop)
    }

    async fn follow(&mut self, questions: Questions) -> FollowEnd {
        let shared = self.client.shared();
        self.poller.retry(shared.now());
        follow(shared, &mut self.poller, self.request_timeout, questions).await
    }

    async fn send(&self, request: Request) -> Outcome {
        let options = request_options(self.request_timeout);
        self.client.shared().request(request, options, None).await
    }

    fn decode(&self, outcome: Outcome) -> Result<CallToolResult, Error> {
        call::decode_outcome(self.client.shared(), method::TOOLS_CALL, outcome)
    }
}

impl Drop for TaskHandle {
    fn drop(&mut self) {
        if self.cancels_on_drop && !self.poller.has_ended() {
            let id = &self.poller.info().id;
            self.client
                .shared()
                .command(|machine, now| machine.cancel_task(now, id));
        }
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("status", self.status())
            .finish_non_exhaustive()
    }
}

/// Returns the task or the result that a call ended with.
pub(crate) fn task_or_result(
    client: &Client,
    response: ToolResponse,
    request_timeout: Option<Duration>,
) -> TaskOrResult {
    match response {
        ToolResponse::Result(result) => TaskOrResult::Result(Box::new(result)),
        ToolResponse::Task(info) => {
            TaskOrResult::Task(TaskHandle::new(client, *info, request_timeout))
        }
    }
}

fn poller(client: &Client, info: TaskInfo) -> TaskPoller {
    let shared = client.shared();
    TaskPoller::new(shared.now(), info, shared.settings.max_input_rounds)
}

fn unix_time() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

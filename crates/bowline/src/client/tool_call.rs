//! A call of a tool: its options, and what its result becomes.

use std::{
    borrow::Cow,
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use serde::de::DeserializeOwned;

use super::{
    Call, CallFuture, Client, Error, ProgressSender, TaskOrResult, ToolCallOutcome, suspended_call,
    task::{ToolResponse, follow_call, task_or_result},
};
use crate::{
    proto::{
        client::{CallOptions, SessionNumber, TaskMode},
        jsonrpc,
        model::{CallToolResult, Meta, ToolMode},
    },
    transport::BoxFuture,
};

/// A tool call that has not been sent yet. Set its options, then await it.
#[must_use = "a call is only sent when it is awaited"]
pub struct ToolCall<'a, R = CallToolResult> {
    call: Call<'a, CallToolResult>,
    task_timeout: Option<Duration>,
    task_ttl: Option<Duration>,
    requests_task: bool,
    result: PhantomData<fn() -> R>,
}

impl<'a, R> ToolCall<'a, R> {
    pub(super) fn new(call: Call<'a, CallToolResult>) -> Self {
        Self {
            call,
            task_timeout: None,
            task_ttl: None,
            requests_task: false,
            result: PhantomData,
        }
    }

    /// Sets how long the server may take to respond: 30 s by default, see
    /// [`Timeouts`](crate::Timeouts). While the server's questions are being answered,
    /// [`Timeouts::input`](crate::Timeouts::input) applies instead. After each answer, this
    /// timeout starts again from zero. The time to list the tools, which may precede the
    /// call, counts too: see [`accept_tasks`](super::ClientBuilder::accept_tasks) and
    /// [`pinned`](super::ClientBuilder#method.pinned).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }

    /// Sets how long the call waits for the task it became: one hour by default, see
    /// [`ClientBuilder::task_timeout`](super::ClientBuilder::task_timeout). When it
    /// expires, the call fails and the task is cancelled. Unlike [`timeout`](Self::timeout),
    /// which limits each request, this limits all of them together, with the time that
    /// questions take.
    pub fn task_timeout(mut self, timeout: Duration) -> Self {
        self.task_timeout = Some(timeout);
        self
    }

    /// Asks for a task in revision 2025-11-25, if the tool and the server support it.
    /// Without this, a task is requested only for tools that must be called as one. In
    /// 2026-07-28, the server decides. [`as_task`](Self::as_task) includes this.
    pub fn request_task(mut self) -> Self {
        self.requests_task = true;
        self
    }

    /// Sets how long the server should keep the task after its creation, where
    /// [`request_task`](Self::request_task) asks for one. Elsewhere, the server decides.
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.task_ttl = Some(ttl);
        self
    }

    /// Waits for the connection if it is down, within the call's timeout. Without
    /// this, a call made while the connection is down fails immediately.
    pub fn wait_for_connection(self) -> Self {
        self.map_call(Call::wait_for_connection)
    }

    /// Sends the call again if the connection is lost before the response arrives: when
    /// the connection is open again or, if only the HTTP exchange of this call broke, after
    /// the same delay ([`ClientBuilder::backoff`](super::ClientBuilder::backoff)). The
    /// call's timeout continues to run. Use this only for tools that are safe to call twice.
    ///
    /// A call that was interrupted after the server's questions were answered starts over,
    /// and they are asked again.
    ///
    /// This has no effect on a call that is bound to a session: with
    /// [`in_session`](Self::in_session), with
    /// [`mode(ToolMode::Stateful)`](Self::mode), or because the server declared the tool
    /// stateful. (Over HTTP in revision 2026-07-28 there are no sessions, so the server's
    /// declaration does not bind a call.) A call without a declared mode can be sent
    /// again.
    pub fn retry_on_disconnect(self) -> Self {
        self.map_call(Call::retry_on_disconnect)
    }

    /// Sets whether the call depends on state that the server keeps for the session,
    /// overriding what the server declared for this tool. See [`Call::mode`].
    pub fn mode(self, mode: ToolMode) -> Self {
        self.map_call(|call| call.mode(mode))
    }

    /// Binds the call to a session. If another session is open by then, or none, the call
    /// fails and nothing is sent. See [`Client::session`](super::Client::session).
    pub fn in_session(self, session: SessionNumber) -> Self {
        self.map_call(|call| call.in_session(session))
    }

    /// Sends the progress reports of the call to a [channel](super::progress_channel),
    /// which is closed when the call ends.
    pub fn progress_to(self, sender: ProgressSender) -> Self {
        self.map_call(|call| call.progress_to(sender))
    }

    /// Restarts the timeout on every progress report, up to a total of `max`. If the server
    /// asks questions, `max` is counted again from each answer.
    pub fn extend_timeout_on_progress(self, max: Duration) -> Self {
        self.map_call(|call| call.extend_timeout_on_progress(max))
    }

    /// Sets the `_meta` of the request: a trace context, for example, or data for an
    /// extension.
    pub fn meta(self, meta: Meta) -> Self {
        self.map_call(|call| call.meta(meta))
    }

    /// Cancels the call when `signal` completes, and notifies the server.
    pub fn cancel_on(self, signal: impl Future<Output = ()> + Send + 'a) -> Self {
        self.map_call(|call| call.cancel_on(signal))
    }

    /// Sets all options at once, and discards those set before, except those of tasks:
    /// [`task_timeout`](Self::task_timeout), [`task_ttl`](Self::task_ttl) and
    /// [`request_task`](Self::request_task) are kept. Also see [`Call::options`].
    ///
    /// [`CallOptions::task`] is overwritten by those, and by
    /// [`ClientBuilder::accept_tasks`](super::ClientBuilder::accept_tasks). It only has an
    /// effect if that is `false`, and the call does not request a task.
    pub fn options(self, options: CallOptions) -> Self {
        self.map_call(|call| call.options(options))
    }

    /// Applies a function to the underlying [`Call`], such as one that sets the same
    /// options for calls of all kinds.
    pub fn map_call(
        mut self,
        change: impl FnOnce(Call<'a, CallToolResult>) -> Call<'a, CallToolResult>,
    ) -> Self {
        self.call = change(self.call);
        self
    }
}

impl<'a> ToolCall<'a> {
    /// Sends the call and, if the server has questions, returns them instead of passing
    /// them to the handlers set on [`ClientBuilder`](super::ClientBuilder). They can then
    /// be answered later, or by another process, with [`Tools::resume`](super::Tools::resume).
    ///
    /// If the call becomes a task, this returns
    /// [`ToolCallOutcome::Task`] at once, whether or not the task has questions.
    ///
    /// This works in revision 2026-07-28. In earlier revisions servers ask while the call
    /// is open, so questions still go to the handlers, and the call ends with its result.
    ///
    /// # Errors
    ///
    /// Returns the same errors as any call.
    pub async fn suspend_on_input(self) -> Result<ToolCallOutcome, Error> {
        let (client, members) = (self.call.client(), self.call.members());
        let timeout = self.call.request_timeout();
        let call = self.accepting_tasks().call.return_input_requests();
        let outcome = call.outcome().await?;
        suspended_call::decode_outcome(client, &members, timeout, outcome)
    }

    /// Sends the call and, if it becomes a task, returns the task instead of waiting for
    /// its result. The task then goes on without this client, and can be
    /// [saved](super::TaskHandle::saved).
    ///
    /// In revision 2026-07-28, the server decides whether a call becomes a task. In
    /// 2025-11-25, this asks for a task if the tool and the server support it. In other
    /// cases the result is returned.
    ///
    /// # Errors
    ///
    /// Returns the same errors as any call.
    pub async fn as_task(self) -> Result<TaskOrResult, Error> {
        let (client, timeout) = (self.call.client(), self.call.request_timeout());
        let call = self.request_task().accepting_tasks().call;
        let response = call.decode_as::<ToolResponse>().await?;
        Ok(task_or_result(client, response, timeout))
    }

    /// Decodes the structured result, or the text as JSON if there is no structured
    /// result. Awaiting the call then also fails if the tool failed, or if its result
    /// does not deserialize to `T`.
    ///
    /// ```
    /// # use bowline::Client;
    /// # async fn example(client: &Client) -> Result<(), bowline::Error> {
    /// #[derive(serde::Deserialize)]
    /// struct Sum {
    ///     sum: f64,
    /// }
    ///
    /// let arguments = serde_json::json!({"a": 17, "b": 25});
    /// let result = client.tools().call("add", arguments).typed::<Sum>().await?;
    /// assert_eq!(result.sum, 42.0);
    /// # Ok(()) }
    /// ```
    pub fn typed<T: DeserializeOwned>(self) -> ToolCall<'a, Typed<T>> {
        ToolCall {
            call: self.call,
            task_timeout: self.task_timeout,
            task_ttl: self.task_ttl,
            requests_task: self.requests_task,
            result: PhantomData,
        }
    }
}

impl<R> ToolCall<'_, R> {
    /// Lets the server answer with a task, if the client can follow tasks.
    fn accepting_tasks(mut self) -> Self {
        let ttl = self.task_ttl;
        let is_accepted = self.call.client().shared().settings.accepts_tasks;
        let mode = match self.requests_task {
            true => TaskMode::Request { ttl },
            false if is_accepted => TaskMode::Accept,
            false => return self,
        };
        self.call = self.call.task_mode(mode);
        self
    }
}

/// Marks a [`ToolCall`] whose result is decoded into a type of the caller's.
#[derive(Debug)]
pub struct Typed<T>(PhantomData<fn() -> T>);

/// What the result of a tool becomes: see [`CallToolResult`] and [`Typed`].
pub trait ToolOutput: private::Sealed {
    /// The value that the caller gets.
    type Output;

    /// Converts the result.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool failed, or the result does not have the type.
    #[doc(hidden)]
    fn from_result(result: CallToolResult) -> Result<Self::Output, Error>;
}

mod private {
    pub trait Sealed {}

    impl Sealed for super::CallToolResult {}
    impl<T> Sealed for super::Typed<T> {}
}

impl ToolOutput for CallToolResult {
    type Output = Self;

    fn from_result(result: CallToolResult) -> Result<Self, Error> {
        Ok(result)
    }
}

impl<T: DeserializeOwned> ToolOutput for Typed<T> {
    type Output = T;

    fn from_result(result: CallToolResult) -> Result<T, Error> {
        let result = result.into_result()?;
        let json = match &result.structured_content {
            Some(value) => Cow::Borrowed(value.get()),
            None => Cow::Owned(result.all_text()),
        };
        match jsonrpc::decode(json.as_bytes()) {
            Ok(output) => Ok(output),
            Err(error) => Err(Error::output(error, result)),
        }
    }
}

impl<'a, R: ToolOutput> IntoFuture for ToolCall<'a, R> {
    type Output = Result<R::Output, Error>;
    type IntoFuture = ToolCallFuture<'a, R>;

    fn into_future(self) -> Self::IntoFuture {
        let client = self.call.client();
        let default_limit = client.shared().settings.task_timeout;
        ToolCallFuture {
            client,
            request_timeout: self.call.request_timeout(),
            task_timeout: self.task_timeout.unwrap_or(default_limit),
            state: ToolCallState::Calling(self.accepting_tasks().call.decode_as().into_future()),
            result: PhantomData,
        }
    }
}

/// The future of a tool call. It sends the request when first polled. If the call
/// becomes a task, it waits for the task to end; dropping it then cancels the task.
#[must_use = "a call is only sent when it is awaited"]
pub struct ToolCallFuture<'a, R = CallToolResult> {
    client: &'a Client,
    request_timeout: Option<Duration>,
    task_timeout: Duration,
    state: ToolCallState<'a>,
    result: PhantomData<fn() -> R>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "almost all calls end in the first state"
)]
enum ToolCallState<'a> {
    Calling(CallFuture<'a, ToolResponse>),
    Following(BoxFuture<'a, Result<CallToolResult, Error>>),
}

impl<R: ToolOutput> Future for ToolCallFuture<'_, R> {
    type Output = Result<R::Output, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let ToolCallState::Calling(call) = &mut this.state {
            match ready!(Pin::new(&mut *call).poll(cx))? {
                ToolResponse::Result(result) => return Poll::Ready(R::from_result(result)),
                ToolResponse::Task(task) => {
                    let signal = call.take_signal();
                    let (timeout, limit) = (this.request_timeout, this.task_timeout);
                    let follow = follow_call(this.client, *task, timeout, limit, signal);
                    this.state = ToolCallState::Following(Box::pin(follow));
                }
            }
        }
        let ToolCallState::Following(follow) = &mut this.state else {
            return Poll::Pending;
        };
        let result = ready!(follow.as_mut().poll(cx))?;
        Poll::Ready(R::from_result(result))
    }
}

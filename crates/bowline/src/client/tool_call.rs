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

use super::{Call, CallFuture, Error, ProgressSender, ToolCallOutcome, suspended_call};
use crate::proto::{
    client::{CallOptions, SessionNumber},
    jsonrpc,
    model::{CallToolResult, Meta, ToolMode},
};

/// A tool call that has not been sent yet. Set its options, then await it.
#[must_use = "a call is only sent when it is awaited"]
pub struct ToolCall<'a, R = CallToolResult> {
    call: Call<'a, CallToolResult>,
    result: PhantomData<fn() -> R>,
}

impl<'a, R> ToolCall<'a, R> {
    pub(super) fn new(call: Call<'a, CallToolResult>) -> Self {
        Self {
            call,
            result: PhantomData,
        }
    }

    /// Sets how long the server may take to respond: 30 s by default, see
    /// [`Timeouts`](crate::Timeouts). While the server's questions are being answered,
    /// [`Timeouts::input`](crate::Timeouts::input) applies instead. After each answer, this
    /// timeout starts again from zero. If the client is
    /// [pinned](super::ClientBuilder#method.pinned), the list of tools that may come before
    /// the call counts too.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.timeout(timeout);
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

    /// Sets all options at once, and discards those set before. See [`Call::options`].
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
    /// This works in revision 2026-07-28. In earlier revisions servers ask while the call
    /// is open, so questions still go to the handlers, and the call ends with its result.
    ///
    /// # Errors
    ///
    /// Returns the same errors as any call.
    pub async fn suspend_on_input(self) -> Result<ToolCallOutcome, Error> {
        let (client, members) = (self.call.client(), self.call.members());
        let outcome = self.call.return_input_requests().outcome().await?;
        suspended_call::decode_outcome(client, &members, outcome)
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
        ToolCall::new(self.call)
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
        ToolCallFuture {
            call: self.call.into_future(),
            result: PhantomData,
        }
    }
}

/// The future of a tool call. It sends the request when first polled.
#[must_use = "a call is only sent when it is awaited"]
pub struct ToolCallFuture<'a, R = CallToolResult> {
    call: CallFuture<'a, CallToolResult>,
    result: PhantomData<fn() -> R>,
}

impl<R: ToolOutput> Future for ToolCallFuture<'_, R> {
    type Output = Result<R::Output, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(Pin::new(&mut self.call).poll(cx))?;
        Poll::Ready(R::from_result(result))
    }
}

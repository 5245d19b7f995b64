//! A call: its options, the request and the response.

use std::{
    borrow::Cow,
    future::{Future, IntoFuture, poll_fn},
    marker::PhantomData,
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;

use super::{
    Client, Error, ProgressSender,
    raw_result::DecodeResult,
    shared::{PendingCall, Shared},
};
use crate::{
    proto::{
        client::{
            CallOptions, CallPolicy, Failure, InputHandling, Outcome, ProgressMode, Request,
            SessionNumber, TaskMode,
        },
        jsonrpc::EncodeError,
        model::{Meta, ToolMode},
    },
    transport::BoxFuture,
};

/// A call that has not been sent yet. Set its options, then await it.
///
/// Dropping the future of a call in progress cancels the call and notifies the server.
#[must_use = "a call is only sent when it is awaited"]
pub struct Call<'a, R> {
    client: &'a Client,
    operation: Cow<'static, str>,
    request: Result<Request, EncodeError>,
    options: CallOptions,
    progress: Option<ProgressSender>,
    signal: Option<BoxFuture<'a, ()>>,
    result: PhantomData<fn() -> R>,
}

impl<'a, R: DecodeResult> Call<'a, R> {
    pub(crate) fn new(
        client: &'a Client,
        operation: impl Into<Cow<'static, str>>,
        request: Result<Request, EncodeError>,
    ) -> Self {
        Self {
            client,
            operation: operation.into(),
            request,
            options: CallOptions::default(),
            progress: None,
            signal: None,
            result: PhantomData,
        }
    }

    /// Sets how long the server may take to respond: 30 s by default, see
    /// [`Timeouts`](crate::Timeouts). While the server's questions are being answered,
    /// [`Timeouts::input`](crate::Timeouts::input) applies instead. After each answer, this
    /// timeout starts again from zero. If this is a call of a tool, the time to list the
    /// tools, which may precede the call, counts too: see
    /// [`pinned`](super::ClientBuilder#method.pinned).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Waits for the connection if it is down, within the call's timeout. Without
    /// this, a call made while the connection is down fails immediately.
    pub fn wait_for_connection(mut self) -> Self {
        self.options.policy = CallPolicy::WaitForConnection;
        self
    }

    /// Sends the call again if the connection is lost before the response arrives: when
    /// the connection is open again or, if only the HTTP exchange of this call broke, after
    /// the same delay ([`ClientBuilder::backoff`](super::ClientBuilder::backoff)). The
    /// call's timeout continues to run. Use this only for calls that are safe to repeat.
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
    pub fn retry_on_disconnect(mut self) -> Self {
        self.options.retry_on_disconnect = true;
        self
    }

    /// Sets whether the call depends on state that the server keeps for the session.
    ///
    /// A stateful call runs only in the session in which it was first sent, and fails if
    /// that session is lost. A stateless call may run in any session. This overrides what
    /// the server declared for the tool in its `_meta` (`dev.bowline/mode`, an extension
    /// of Bowline).
    pub fn mode(mut self, mode: ToolMode) -> Self {
        self.options.mode = Some(mode);
        self
    }

    /// Binds the call to a session. If another session is open by then, or none, the call
    /// fails and nothing is sent. Use this for a call that depends on state that an
    /// earlier call left in the server; see [`Client::session`].
    pub fn in_session(mut self, session: SessionNumber) -> Self {
        self.options.session = Some(session);
        self
    }

    /// Sends the progress reports of the call to a [channel](super::progress_channel),
    /// which is closed when the call ends.
    pub fn progress_to(mut self, sender: ProgressSender) -> Self {
        self.progress = Some(sender);
        if self.options.progress == ProgressMode::Off {
            self.options.progress = ProgressMode::Report;
        }
        self
    }

    /// Restarts the timeout on every progress report, up to a total of `max`. If the server
    /// asks questions, `max` is counted again from each answer.
    pub fn extend_timeout_on_progress(mut self, max: Duration) -> Self {
        self.options.progress = ProgressMode::ExtendDeadline { max };
        self
    }

    /// Sets the `_meta` of the request: a trace context, for example, or data for an
    /// extension.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.request = self.request.map(|request| request.with_meta(meta));
        self
    }

    /// Cancels the call when `signal` completes, and notifies the server. This is for
    /// callers that cannot drop the future of the call.
    pub fn cancel_on(mut self, signal: impl Future<Output = ()> + Send + 'a) -> Self {
        self.signal = Some(Box::pin(signal));
        self
    }

    /// Sets all options at once, and discards those set before. [`meta`](Self::meta),
    /// [`cancel_on`](Self::cancel_on) and [`progress_to`](Self::progress_to) are kept, but
    /// the channel of `progress_to` gets reports only if `options.progress` is not
    /// [`ProgressMode::Off`].
    pub fn options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// Returns the server's questions to the caller instead of passing them to the
    /// handlers.
    pub(crate) fn return_input_requests(mut self) -> Self {
        self.options.input_handling = InputHandling::ReturnToCaller;
        self
    }

    /// Sets whether the call may become a task.
    pub(crate) fn task_mode(mut self, task: TaskMode) -> Self {
        self.options.task = task;
        self
    }

    /// Returns the timeout of the request, if it has one of its own.
    pub(crate) fn request_timeout(&self) -> Option<Duration> {
        self.options.timeout
    }

    /// Decodes the response as another type.
    pub(crate) fn decode_as<T: DecodeResult>(self) -> Call<'a, T> {
        Call {
            client: self.client,
            operation: self.operation,
            request: self.request,
            options: self.options,
            progress: self.progress,
            signal: self.signal,
            result: PhantomData,
        }
    }

    pub(crate) fn client(&self) -> &'a Client {
        self.client
    }

    /// Returns the serialized parameters, to send them again.
    pub(crate) fn members(&self) -> Vec<u8> {
        self.request
            .as_ref()
            .map(|request| request.members().to_vec())
            .unwrap_or_default()
    }

    pub(crate) async fn outcome(mut self) -> Result<Outcome, Error> {
        if let Some(mut review) = self.review() {
            poll_fn(|cx| self.poll_review(&mut review, cx)).await?;
        }
        Ok(self.send()?.await)
    }

    /// Returns the check of a tool against its review, if the client's tools are pinned.
    fn review(&self) -> Option<ReviewFuture<'a>> {
        #[cfg(feature = "lock")]
        if let Some(pins) = &self.client.shared().settings.pins
            && self.operation == crate::model::method::TOOLS_CALL
        {
            let (client, pins) = (self.client, std::sync::Arc::clone(pins));
            let (name, options) = (named_tool(&self.members()), self.options.clone());
            return Some(Box::pin(async move {
                pins.check(client, &name, &options).await
            }));
        }
        None
    }

    /// Runs the check of the tool until it has ended, or the call is cancelled. What it
    /// took counts for the timeout of the call.
    fn poll_review(
        &mut self,
        review: &mut ReviewFuture<'a>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        if let Poll::Ready(reviewed) = review.as_mut().poll(cx) {
            return Poll::Ready(reviewed.map(|elapsed| self.options.elapsed += elapsed));
        }
        match &mut self.signal {
            Some(signal) => {
                let cancelled = || Error::failed(&self.operation, Failure::Cancelled);
                signal.as_mut().poll(cx).map(|()| Err(cancelled()))
            }
            None => Poll::Pending,
        }
    }

    /// Sends the call immediately.
    fn send(self) -> Result<SentCall<'a>, Error> {
        let request = self
            .request
            .map_err(|error| Error::encode(&self.operation, error))?;
        let shared = self.client.shared();
        Ok(SentCall {
            shared,
            operation: self.operation,
            call: shared.request(request, self.options, self.progress),
            signal: self.signal,
        })
    }
}

impl<'a, R: DecodeResult + 'a> IntoFuture for Call<'a, R> {
    type Output = Result<R, Error>;
    type IntoFuture = CallFuture<'a, R>;

    fn into_future(self) -> Self::IntoFuture {
        CallFuture {
            state: CallState::NotSent(self),
            signal: None,
        }
    }
}

/// The future of a call. It sends the request when first polled.
#[must_use = "a call is only sent when it is awaited"]
pub struct CallFuture<'a, R> {
    state: CallState<'a, R>,
    /// The cancellation signal, once the call has ended without it.
    signal: Option<BoxFuture<'a, ()>>,
}

impl<'a, R> CallFuture<'a, R> {
    /// Takes the cancellation signal of a call that has ended.
    pub(crate) fn take_signal(&mut self) -> Option<BoxFuture<'a, ()>> {
        self.signal.take()
    }
}

/// The check of a tool, which returns how long it took.
type ReviewFuture<'a> = BoxFuture<'a, Result<Duration, Error>>;

enum CallState<'a, R> {
    NotSent(Call<'a, R>),
    /// The tool is compared with its review before the call is sent.
    Reviewing(ReviewFuture<'a>, Call<'a, R>),
    Sent(SentCall<'a>),
    Done,
}

impl<R: DecodeResult> Future for CallFuture<'_, R> {
    type Output = Result<R, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let state = &mut this.state;
        if matches!(state, CallState::NotSent(_))
            && let CallState::NotSent(call) = mem::replace(state, CallState::Done)
        {
            *state = match call.review() {
                None => CallState::Sent(call.send()?),
                Some(review) => CallState::Reviewing(review, call),
            };
        }
        if let CallState::Reviewing(review, call) = state {
            let reviewed = ready!(call.poll_review(review, cx));
            let CallState::Reviewing(_, call) = mem::replace(state, CallState::Done) else {
                return Poll::Pending;
            };
            reviewed?;
            *state = CallState::Sent(call.send()?);
        }
        let CallState::Sent(sent) = state else {
            // Polled again after completion.
            return Poll::Pending;
        };
        let outcome = ready!(Pin::new(&mut *sent).poll(cx));
        let result = decode_outcome(sent.shared, &sent.operation, outcome);
        this.signal = sent.signal.take();
        *state = CallState::Done;
        Poll::Ready(result)
    }
}

/// Returns the tool that parameters name, given without their braces. Empty if they
/// name none.
#[cfg(feature = "lock")]
fn named_tool(members: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Params {
        name: String,
    }
    let params = [b"{", members, b"}"].concat();
    let params: Result<Params, _> = serde_json::from_slice(&params);
    params.map(|params| params.name).unwrap_or_default()
}

/// A call that was sent, with its cancellation signal.
struct SentCall<'a> {
    shared: &'a Shared,
    operation: Cow<'static, str>,
    call: PendingCall<'a>,
    signal: Option<BoxFuture<'a, ()>>,
}

impl Future for SentCall<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let Poll::Ready(outcome) = Pin::new(&mut self.call).poll(cx) {
            return Poll::Ready(outcome);
        }
        match &mut self.signal {
            // Dropping the call cancels it.
            Some(signal) => signal
                .as_mut()
                .poll(cx)
                .map(|()| Outcome::Failed(Failure::Cancelled)),
            None => Poll::Pending,
        }
    }
}

/// Decodes the response on the caller's task.
pub(crate) fn decode_outcome<R: DecodeResult>(
    shared: &Shared,
    operation: &str,
    outcome: Outcome,
) -> Result<R, Error> {
    let result = outcome_bytes(shared, operation, outcome)?;
    R::decode(&result).map_err(|error| Error::decode(operation, error))
}

/// Returns the undecoded response.
pub(crate) fn outcome_bytes(
    shared: &Shared,
    operation: &str,
    outcome: Outcome,
) -> Result<Bytes, Error> {
    match outcome {
        Outcome::Result(result) => Ok(result),
        Outcome::Error(error) => Err(Error::error_response(operation, error)),
        Outcome::Failed(failure) => {
            let last_disconnect = shared.health.borrow().last_disconnect.clone();
            Err(Error::failed(operation, failure).with_last_disconnect(last_disconnect))
        }
    }
}

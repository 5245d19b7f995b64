//! One call, from its options to its answer.

use std::{
    borrow::Cow,
    future::{Future, IntoFuture},
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
            SessionNumber,
        },
        jsonrpc::EncodeError,
        model::{Meta, ToolMode},
    },
    transport::BoxFuture,
};

/// A call that has not been made yet: say how, then await it.
///
/// Dropping the future of a call that is under way gives the call up, and
/// tells the server so.
#[must_use = "a call is made when it is awaited"]
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

    /// Gives the server this long to answer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Waits for the connection, if it is down, within the time that the call
    /// has. Otherwise such a call fails at once.
    pub fn wait_for_connection(mut self) -> Self {
        self.options.policy = CallPolicy::WaitForConnection;
        self
    }

    /// Sends the call again if the connection falls while it is under way.
    /// Only for calls that are harmless to repeat.
    pub fn repeat_if_lost(mut self) -> Self {
        self.options.repeat_if_lost = true;
        self
    }

    /// Says whether the call needs the session, where you know better than the
    /// server's list of tools. A stateless call can be made in any session. A
    /// stateful one is never moved to another: neither when it may be repeated,
    /// nor when the server forgot the session.
    pub fn mode(mut self, mode: ToolMode) -> Self {
        self.options.mode = Some(mode);
        self
    }

    /// Binds the call to a session: in any other it is refused, and nothing is
    /// sent. For calls that build on what an earlier one left in the server;
    /// see [`Client::session`].
    pub fn in_session(mut self, session: SessionNumber) -> Self {
        self.options.session = Some(session);
        self
    }

    /// Hears of progress, through a [channel](super::progress_channel) that
    /// closes when the call ends.
    pub fn on_progress(mut self, sender: ProgressSender) -> Self {
        self.progress = Some(sender);
        if self.options.progress == ProgressMode::Off {
            self.options.progress = ProgressMode::Report;
        }
        self
    }

    /// Lets every piece of progress start the time anew, up to `at_most` in
    /// all.
    pub fn extend_timeout_on_progress(mut self, max: Duration) -> Self {
        self.options.progress = ProgressMode::ExtendDeadline { max };
        self
    }

    /// Sends this beside the parameters: a trace context, say, or what an
    /// extension wants.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.request = self.request.map(|request| request.with_meta(meta));
        self
    }

    /// Gives the call up when `signal` is ready, and tells the server so. For
    /// callers that cannot simply drop the future.
    pub fn cancel_on(mut self, signal: impl Future<Output = ()> + Send + 'a) -> Self {
        self.signal = Some(Box::pin(signal));
        self
    }

    /// Replaces all options at once.
    pub fn options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// Gives the server's questions to the caller instead of asking the host.
    pub(crate) fn return_input_requests(mut self) -> Self {
        self.options.input_handling = InputHandling::ReturnToCaller;
        self
    }

    pub(crate) fn client(&self) -> &'a Client {
        self.client
    }

    /// The parameters as they will be sent, to send them again.
    pub(crate) fn members(&self) -> Vec<u8> {
        self.request
            .as_ref()
            .map(|request| request.members().to_vec())
            .unwrap_or_default()
    }

    pub(crate) async fn outcome(self) -> Result<Outcome, Error> {
        Ok(self.send()?.await)
    }

    /// Makes the call, at once.
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
        CallFuture(CallState::NotSent(self))
    }
}

/// A call as it is awaited. It is made when it is first polled.
#[must_use = "a call is made when it is awaited"]
pub struct CallFuture<'a, R>(CallState<'a, R>);

enum CallState<'a, R> {
    NotSent(Call<'a, R>),
    Sent(SentCall<'a>),
    Done,
}

impl<R: DecodeResult> Future for CallFuture<'_, R> {
    type Output = Result<R, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let state = &mut self.0;
        if matches!(state, CallState::NotSent(_))
            && let CallState::NotSent(call) = mem::replace(state, CallState::Done)
        {
            *state = CallState::Sent(call.send()?);
        }
        let CallState::Sent(sent) = state else {
            // Nobody should ask again.
            return Poll::Pending;
        };
        let outcome = ready!(Pin::new(&mut *sent).poll(cx));
        let result = decode_outcome(sent.shared, &sent.operation, outcome);
        *state = CallState::Done;
        Poll::Ready(result)
    }
}

/// A call that was made, and what may give it up.
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
            // Whoever drops the call then gives it up.
            Some(signal) => signal
                .as_mut()
                .poll(cx)
                .map(|()| Outcome::Failed(Failure::Cancelled)),
            None => Poll::Pending,
        }
    }
}

/// Decodes the answer, on the task of the one who asked.
pub(crate) fn decode_outcome<R: DecodeResult>(
    shared: &Shared,
    operation: &str,
    outcome: Outcome,
) -> Result<R, Error> {
    let result = outcome_bytes(shared, operation, outcome)?;
    R::decode(&result).map_err(|error| Error::decode(operation, error))
}

/// The answer as it came.
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

//! Calls to the client, for revisions in which servers may call.

use std::{borrow::Cow, time::Duration};

use super::{
    CallId, Connection, Failure, Outcome, Output, RequestKey, TelemetryEvent, Violation,
    calls::Call, required_capability, session::Session,
};
use crate::{
    Instant,
    jsonrpc::{EncodeError, OutgoingMessage, RequestId},
    model::{
        Adapt, CancelledParams, InputKind, InputRequest, ListRootsParams, Side, WireFeatures,
        method,
    },
    revision::Era,
};

/// A request to the client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerRequest {
    /// A ping.
    Ping,
    /// A question. In the stateless era, results carry these instead.
    Input(Box<InputRequest>),
}

impl<T: Into<InputRequest>> From<T> for ServerRequest {
    fn from(question: T) -> Self {
        Self::Input(Box::new(question.into()))
    }
}

/// Options of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// How long the answer may take. The default depends on the request.
    pub timeout: Option<Duration>,
    /// The request on whose behalf the call is made. When it ends, so does the
    /// call.
    pub parent: Option<RequestKey>,
}

impl Connection {
    /// Calls the client, in the session of the handshake era. Ends with one
    /// [`Output::CallDone`], which may already be queued when this returns.
    pub fn call(
        &mut self,
        now: Instant,
        question: impl Into<ServerRequest>,
        options: &CallOptions,
    ) -> CallId {
        let id = self.calls.next_id();
        if let Err(failure) = self.begin_call(now, id, question.into(), options) {
            let outcome = Outcome::Failed(failure);
            let call = CallId(id);
            self.core.push_output(Output::CallDone { call, outcome });
        }
        CallId(id)
    }

    /// Cancels a call. Does nothing if it has ended.
    pub fn cancel(&mut self, now: Instant, call: CallId) {
        self.cancel_call(now, call.0, Failure::Cancelled, "no longer needed");
    }

    fn begin_call(
        &mut self,
        now: Instant,
        id: u64,
        question: ServerRequest,
        options: &CallOptions,
    ) -> Result<(), Failure> {
        if self.core.is_closed() {
            return Err(Failure::Closed);
        }
        let interactive = question.is_interactive();
        let message = self.build_request(question, options.parent)?;
        if self.calls.len() >= self.core.config.max_calls {
            return Err(Failure::TooManyCalls);
        }
        let (size, limit) = (message.len(), self.core.config.max_frame_size);
        if size > limit {
            let reason = format!("its {size} bytes exceed the limit of {limit} bytes");
            return Err(Failure::NotSendable { message: reason });
        }
        let method = message.method_name();
        let timeout = options
            .timeout
            .unwrap_or(self.core.config.call_timeout(interactive));
        self.core.observe(|| TelemetryEvent::CallStart {
            call: id,
            method: method.clone(),
        });
        let call = Call {
            method,
            parent: options.parent,
            started: now,
            timeout,
        };
        self.calls.open(id, call);
        let frame = message.into_request(id).frame;
        self.core.send(options.parent, frame);
        Ok(())
    }

    /// Checks that the client may be asked this, and encodes it.
    fn build_request(
        &self,
        question: ServerRequest,
        parent: Option<RequestKey>,
    ) -> Result<OutgoingMessage, Failure> {
        if let Some(parent) = parent {
            let open = self.requests.get(parent).ok_or(Failure::Cancelled)?;
            if open.rules.era == Era::Stateless {
                return Err(Failure::NotSupportedInEra);
            }
        }
        let session = self.session.as_ref();
        let session = session.filter(|session| session.rules.server_requests);
        let session = session.ok_or(Failure::NotSupportedInEra)?;
        let ServerRequest::Input(question) = question else {
            return Ok(OutgoingMessage::without_params(method::PING));
        };
        if !session.initialized {
            return Err(Failure::NotInitialized);
        }
        check_question(&question, session)?;
        encode_question(*question, &session.rules.features).map_err(|error| Failure::NotSendable {
            message: error.to_string(),
        })
    }
}

/// How calls end.
impl Connection {
    /// Handles a response from the client.
    pub(super) fn response_received(
        &mut self,
        now: Instant,
        id: Option<&RequestId>,
        outcome: Outcome,
        size: usize,
    ) {
        if self.session.is_none() {
            self.core.report_violation(Violation::ClientResponse, size);
            return;
        }
        let id = id.and_then(RequestId::as_u64);
        if matches!(outcome, Outcome::Failed(_)) {
            self.core.report_violation(Violation::InvalidResponse, size);
        }
        if id.is_some_and(|id| self.finish_call(now, id, outcome)) {
            return;
        }
        let late = id.is_some_and(|id| self.calls.was_used(id));
        self.core.observe(|| {
            if late {
                TelemetryEvent::LateResponse
            } else {
                TelemetryEvent::UnknownResponse
            }
        });
    }

    pub(super) fn call_timed_out(&mut self, now: Instant, id: u64) {
        if let Some(after) = self.calls.timeout(id) {
            self.cancel_call(now, id, Failure::Timeout { after }, "timeout");
        }
    }

    /// Cancels the calls made on behalf of a request that has ended.
    pub(super) fn cancel_child_calls(&mut self, now: Instant, parent: RequestKey) {
        for id in self.calls.children(parent) {
            self.cancel_call(now, id, Failure::Cancelled, "no longer needed");
        }
    }

    /// Ends a call and returns whether it was open. Calls leave the table only
    /// here, so no call ends twice.
    pub(super) fn finish_call(&mut self, now: Instant, id: u64, outcome: Outcome) -> bool {
        let Some(call) = self.calls.close(id) else {
            return false;
        };
        let duration = now - call.started;
        self.core.observe(|| match &outcome {
            Outcome::Failed(failure) => TelemetryEvent::CallException {
                call: id,
                method: call.method,
                duration,
                reason: failure.reason(),
            },
            Outcome::Result(_) | Outcome::Error(_) => TelemetryEvent::CallStop {
                call: id,
                method: call.method,
                duration,
                refused: matches!(outcome, Outcome::Error(_)),
            },
        });
        let call = CallId(id);
        self.core.push_output(Output::CallDone { call, outcome });
        true
    }

    fn cancel_call(&mut self, now: Instant, id: u64, failure: Failure, reason: &str) {
        let parent = self.calls.parent(id);
        if !self.finish_call(now, id, Outcome::Failed(failure)) {
            return;
        }
        let Some(session) = &self.session else {
            return;
        };
        let params = CancelledParams {
            request_id: Some(id.into()),
            reason: Some(reason.to_owned()),
            ..CancelledParams::default()
        };
        self.core.notify(parent, &session.rules.features, params);
        self.core
            .observe(|| TelemetryEvent::CancelSent { call: id });
    }
}

impl ServerRequest {
    /// Returns whether a person or a model has to answer, which takes longer.
    fn is_interactive(&self) -> bool {
        match self {
            Self::Ping => false,
            Self::Input(question) => matches!(
                question.kind,
                InputKind::Elicit(_) | InputKind::CreateMessage(_)
            ),
        }
    }
}

/// Checks that the revision has the question and the client declared to answer
/// it.
fn check_question(question: &InputRequest, session: &Session) -> Result<(), Failure> {
    if !session.rules.allows(question.method(), Side::Server) {
        let reason = "this protocol version does not have this kind of question";
        return Err(Failure::NotSupportedInRevision { message: reason });
    }
    let declared = &session.client.capabilities;
    if let Some(capability) = required_capability(question)
        && !declared.has(capability)
    {
        return Err(Failure::CapabilityMissing { capability });
    }
    if let InputKind::Elicit(params) = &question.kind
        && let Some(reason) = params.unsupported_reason(&session.rules.features)
    {
        return Err(Failure::NotSupportedInRevision { message: reason });
    }
    Ok(())
}

fn encode_question(
    mut question: InputRequest,
    features: &WireFeatures,
) -> Result<OutgoingMessage, EncodeError> {
    question.adapt(features);
    match &question.kind {
        InputKind::Elicit(params) => OutgoingMessage::new(method::ELICITATION_CREATE, params),
        InputKind::CreateMessage(params) => {
            OutgoingMessage::new(method::SAMPLING_CREATE_MESSAGE, params)
        }
        InputKind::ListRoots(params) => {
            OutgoingMessage::new::<Option<ListRootsParams>>(method::ROOTS_LIST, params)
        }
        InputKind::Unknown { method, params } => {
            OutgoingMessage::new(Cow::Owned(method.to_string()), params)
        }
    }
}

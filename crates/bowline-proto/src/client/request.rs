//! Outgoing requests and call options.

use std::{borrow::Cow, time::Duration};

use serde::Serialize;

use super::{SessionNumber, desired_state::DesiredChange};
use crate::{
    Instant,
    jsonrpc::{EncodeError, OutgoingMessage},
    model::{self, Extra, Meta, ToolMode, method},
};

/// A serialised request whose id is not assigned yet.
///
/// ```
/// use bowline_proto::{client::Request, model::ListToolsParams};
///
/// let request = Request::new(ListToolsParams::default()).unwrap();
/// assert_eq!(request.method(), "tools/list");
/// ```
#[derive(Debug)]
pub struct Request {
    pub(super) message: OutgoingMessage,
    pub(super) meta: Option<Box<Meta>>,
    /// Whether this is a liveness check, sent as `ping` or `server/discover`.
    pub(super) is_ping: bool,
    /// Whether nobody waits for the response.
    pub(super) is_unattended: bool,
}

impl Request {
    /// Creates a request from a typed model.
    ///
    /// # Errors
    ///
    /// Returns an error if the parameters cannot be serialised.
    pub fn new<P: model::Request + Serialize>(mut params: P) -> Result<Self, EncodeError> {
        let meta = params.take_meta().map(Box::new);
        Ok(Self {
            message: OutgoingMessage::new(P::METHOD, &params)?,
            meta,
            is_ping: false,
            is_unattended: false,
        })
    }

    /// Creates a request for any method, including ones the model does not define. A
    /// `_meta` in the parameters is merged with the connection's.
    ///
    /// # Errors
    ///
    /// Returns an error if the parameters cannot be serialised or are not an object, or
    /// if their `_meta` is not an object.
    pub fn raw<P: Serialize + ?Sized>(
        method: impl Into<Cow<'static, str>>,
        params: &P,
    ) -> Result<Self, EncodeError> {
        let mut message = OutgoingMessage::new(method, params)?;
        let mut meta = None;
        if message.has_member("_meta") {
            let object = [b"{", message.members(), b"}"].concat();
            let mut members: Extra = serde_json::from_slice(&object)?;
            if let Some(meta_json) = members.remove("_meta") {
                meta = Some(Box::new(meta_json.decode::<Meta>()?));
                message = OutgoingMessage::new(message.method_name(), &members)?;
            }
        }
        Ok(Self {
            message,
            meta,
            is_ping: false,
            is_unattended: false,
        })
    }

    /// Creates a request for any method, without parameters.
    pub fn without_params(method: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: OutgoingMessage::without_params(method),
            meta: None,
            is_ping: false,
            is_unattended: false,
        }
    }

    /// Creates a liveness check: `ping`, or `server/discover` in revisions without
    /// `ping`. Every server answers it.
    #[must_use]
    pub fn ping() -> Self {
        Self {
            is_ping: true,
            ..Self::without_params(method::PING)
        }
    }

    /// Sets the caller's `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(Box::new(meta));
        self
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.message.method()
    }

    /// Returns the members of the parameters, without braces.
    #[must_use]
    pub fn members(&self) -> &[u8] {
        self.message.members()
    }
}

impl From<OutgoingMessage> for Request {
    fn from(message: OutgoingMessage) -> Self {
        Self {
            message,
            meta: None,
            is_ping: false,
            is_unattended: false,
        }
    }
}

/// The operation that the host asks for.
#[derive(Debug)]
pub(super) enum CallKind {
    Request(Request),
    Change(DesiredChange),
}

impl CallKind {
    /// Returns the method that represents this operation in errors and telemetry.
    pub(super) fn method(&self) -> Cow<'static, str> {
        match self {
            Self::Request(request) => request.message.method_name(),
            Self::Change(change) => change.method().into(),
        }
    }
}

/// Options for a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOptions {
    /// How long to wait for the response. Defaults to the timeout of the request's
    /// class.
    pub timeout: Option<Duration>,
    /// How much of the timeout has passed already, for a call with a part that the
    /// caller did before.
    pub elapsed: Duration,
    /// What to do while the connection is not open.
    pub policy: CallPolicy,
    /// How to handle progress notifications.
    pub progress: ProgressMode,
    /// Whether to send the call again if the connection is lost while it is in flight. Over
    /// HTTP, also if only its exchange ends without a response.
    /// Only for calls that are safe to repeat. Has no effect on a call that is bound to a
    /// session: by `session`, by a `mode` of [`ToolMode::Stateful`], or because the server
    /// declared the tool stateful.
    pub retry_on_disconnect: bool,
    /// What to do when the server requires input to continue.
    pub input_handling: InputHandling,
    /// The tool's mode, which overrides the one that the server declared.
    pub mode: Option<ToolMode>,
    /// The session that the call is bound to. In any other session the call fails.
    pub session: Option<SessionNumber>,
    /// Whether to refuse calls that need a capability the server did not advertise,
    /// without sending anything.
    pub check_capabilities: bool,
    /// Whether the server may answer a tool call with a task.
    pub task: TaskMode,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            timeout: None,
            elapsed: Duration::ZERO,
            policy: CallPolicy::FailFast,
            progress: ProgressMode::Off,
            retry_on_disconnect: false,
            input_handling: InputHandling::AskHost,
            mode: None,
            session: None,
            check_capabilities: true,
            task: TaskMode::Refuse,
        }
    }
}

impl CallOptions {
    /// Returns whether the caller, and not only the tool, requires the call to be bound
    /// to a session.
    pub(super) fn requires_session(&self) -> bool {
        self.session.is_some() || self.mode == Some(ToolMode::Stateful)
    }
}

/// What to do with a call while the connection is not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPolicy {
    /// Fail immediately and report the connection's state.
    FailFast,
    /// Wait for the connection, within the call's deadline.
    WaitForConnection,
}

/// How to handle the progress notifications of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressMode {
    /// Do not request progress.
    Off,
    /// Deliver progress to the host.
    Report,
    /// Deliver progress to the host. Each notification restarts the call's timeout, up
    /// to a maximum.
    ExtendDeadline {
        /// The maximum time the server may take. Time spent waiting for the host's
        /// input does not count: each round starts over.
        max: Duration,
    },
}

impl ProgressMode {
    /// Returns the limit beyond which progress cannot extend the deadline of a request
    /// that is sent now.
    pub(super) fn max_deadline(self, now: Instant) -> Option<Instant> {
        match self {
            Self::ExtendDeadline { max } => Some(now + max),
            Self::Off | Self::Report => None,
        }
    }
}

/// Whether the server may answer a tool call with a task. Other calls are never
/// answered with one.
///
/// A call that became a task ends with the server's description of the task as its
/// result: see [`TaskInfo::from_create_result`](crate::task::TaskInfo::from_create_result).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskMode {
    /// It may not; this client does not declare that it can follow tasks.
    Refuse,
    /// It may. Where the client decides, a task is requested only for tools that must be
    /// called as one.
    Accept,
    /// It should. Where the client decides, a task is requested for all tools that may be
    /// called as one; where the server decides, this is the same as `Accept`.
    Request {
        /// How long the server should keep the task, where the client decides.
        ttl: Option<Duration>,
    },
}

/// What to do when the server requires input to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputHandling {
    /// Ask the host and continue with its answers.
    AskHost,
    /// Return the questions to the caller as the result.
    ReturnToCaller,
}

//! What a caller asks for, and how it wants to be treated.

use std::{borrow::Cow, time::Duration};

use memchr::memmem;
use serde::Serialize;

use super::SessionNumber;
use crate::{
    Instant,
    jsonrpc::{EncodeError, OutgoingMessage},
    model::{self, Extra, LogLevel, Meta, ToolMode, method},
};

/// A request, serialised already, whose id is not known yet.
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
    pub(super) tool: Option<ToolName>,
    /// Whether it only asks if the server is there.
    pub(super) is_ping: bool,
}

/// The name of the tool that a request calls.
#[derive(Debug)]
pub(super) enum ToolName {
    /// The parameters begin with it, and it is so long: no need for a copy.
    Leading(usize),
    Owned(Box<str>),
}

/// How parameters begin whose first member is the name.
const LEADING_NAME: &[u8] = br#""name":""#;

impl ToolName {
    fn new(name: &str, members: &[u8]) -> Self {
        let encoded = members.strip_prefix(LEADING_NAME);
        let rest = encoded.and_then(|encoded| encoded.strip_prefix(name.as_bytes()));
        match rest {
            // A name that was escaped does not look like itself.
            Some([b'"', ..]) => Self::Leading(name.len()),
            _ => Self::Owned(name.into()),
        }
    }

    /// The name, in a request whose parameters are these.
    pub(super) fn get<'a>(&'a self, members: &'a [u8]) -> &'a str {
        match self {
            Self::Leading(length) => members
                .get(LEADING_NAME.len()..LEADING_NAME.len() + length)
                .and_then(|name| std::str::from_utf8(name).ok())
                .unwrap_or_default(),
            Self::Owned(name) => name,
        }
    }
}

impl Request {
    /// A request of the model.
    ///
    /// # Errors
    ///
    /// Where the parameters refuse to be serialised.
    pub fn new<P: model::Request + Serialize>(mut params: P) -> Result<Self, EncodeError> {
        let meta = params.take_meta().map(Box::new);
        Ok(Self {
            message: OutgoingMessage::new(P::METHOD, &params)?,
            meta,
            tool: None,
            is_ping: false,
        })
    }

    /// A request that the model may not know. A `_meta` among its parameters
    /// is put together with what the connection has to say there.
    ///
    /// # Errors
    ///
    /// Where the parameters refuse to be serialised, or are not an object, or
    /// their `_meta` is not one.
    pub fn raw<P: Serialize + ?Sized>(
        method: impl Into<Cow<'static, str>>,
        params: &P,
    ) -> Result<Self, EncodeError> {
        let mut message = OutgoingMessage::new(method, params)?;
        let mut meta = None;
        // Deeper down the word means something else, but that takes a closer
        // look than nearly all requests need.
        if memmem::find(message.members(), b"\"_meta\"").is_some() {
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
            tool: None,
            is_ping: false,
        })
    }

    /// A request of another method with no parameters.
    pub fn without_params(method: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: OutgoingMessage::without_params(method),
            meta: None,
            tool: None,
            is_ping: false,
        }
    }

    /// The question whether the server is there, as its revision has it: `ping`,
    /// or else `server/discover`, which every server answers.
    #[must_use]
    pub fn ping() -> Self {
        Self {
            is_ping: true,
            ..Self::without_params(method::PING)
        }
    }

    /// The same request with `meta` in its `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(Box::new(meta));
        self
    }

    /// The same request, known to call this tool. The tool's mode decides
    /// whether the call is bound to the session.
    #[must_use]
    pub fn for_tool(mut self, name: &str) -> Self {
        self.tool = Some(ToolName::new(name, self.message.members()));
        self
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.message.method()
    }

    /// The members of the parameters, without braces.
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
            tool: None,
            is_ping: false,
        }
    }
}

/// What a call is to achieve. How a wish about subscriptions or the log level
/// is put on the wire depends on the era, which is not known before the
/// session is open.
#[derive(Debug)]
pub(super) enum CallKind {
    Request(Request),
    Subscribe(Box<str>),
    Unsubscribe(Box<str>),
    SetLevel(LogLevel),
}

impl CallKind {
    /// The method that stands for this wish in errors and telemetry.
    pub(super) fn method(&self) -> Cow<'static, str> {
        match self {
            Self::Request(request) => request.message.method_name(),
            Self::Subscribe(_) => method::RESOURCES_SUBSCRIBE.into(),
            Self::Unsubscribe(_) => method::RESOURCES_UNSUBSCRIBE.into(),
            Self::SetLevel(_) => method::LOGGING_SET_LEVEL.into(),
        }
    }
}

/// How a call wants to be treated.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOptions {
    /// How long the answer may take; by the request's class unless given.
    pub timeout: Option<Duration>,
    /// What to do while the connection is not open.
    pub policy: CallPolicy,
    /// What to do with progress.
    pub progress: ProgressMode,
    /// Whether the call may be sent again if the connection falls while it is
    /// under way. Only for calls that are harmless to repeat.
    pub repeat_if_lost: bool,
    /// What to do when the server needs input to go on.
    pub input_handling: InputHandling,
    /// The tool's mode, where the caller knows better than the tool list.
    pub mode: Option<ToolMode>,
    /// The session that the call belongs to. In any other, it is refused.
    pub session: Option<SessionNumber>,
    /// Whether to refuse calls that the server did not advertise, without
    /// touching the wire.
    pub check_capabilities: bool,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            timeout: None,
            policy: CallPolicy::FailFast,
            progress: ProgressMode::Off,
            repeat_if_lost: false,
            input_handling: InputHandling::AskHost,
            mode: None,
            session: None,
            check_capabilities: true,
        }
    }
}

impl CallOptions {
    /// Whether the caller, not only the tool, wants the call bound to a
    /// session.
    pub(super) fn requires_session(&self) -> bool {
        self.session.is_some() || self.mode == Some(ToolMode::Stateful)
    }
}

/// What to do with a call while the connection is not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPolicy {
    /// Fail at once, saying which state the connection is in.
    FailFast,
    /// Wait for the connection, within the call's deadline.
    WaitForConnection,
}

/// What to do with progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressMode {
    /// Do not ask for it.
    Off,
    /// Hand it up.
    Report,
    /// Hand it up, and let each piece start the deadline anew, up to this much
    /// time in all.
    ExtendDeadline {
        /// The most that the server may take. Time in which it waits for the
        /// host's input does not count: each round starts anew.
        max: Duration,
    },
}

impl ProgressMode {
    /// The moment that progress cannot push the deadline beyond, of a request
    /// that is sent now.
    pub(super) fn max_deadline(self, now: Instant) -> Option<Instant> {
        match self {
            Self::ExtendDeadline { max } => Some(now + max),
            Self::Off | Self::Report => None,
        }
    }
}

/// What to do when the server needs input to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputHandling {
    /// Ask the host and go on with its answers.
    AskHost,
    /// Give the questions to the caller as the result.
    ReturnToCaller,
}

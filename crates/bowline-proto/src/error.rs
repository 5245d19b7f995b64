//! The vocabulary of failure: a coarse kind and a fine reason, by blame.

use std::fmt;

use crate::jsonrpc::{ErrorObject, code};

/// Who or what is to blame, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The transport failed.
    Transport,
    /// The peer broke the protocol.
    Protocol,
    /// The peer refused, with an error of its own.
    JsonRpc,
    /// The connection is in a state that does not allow it.
    State,
    /// It took too long.
    Timeout,
    /// The connection was stopped.
    Shutdown,
    /// The peer does not offer it.
    Capability,
    /// The caller gave up.
    Cancelled,
}

/// What happened, finely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// No answer in time.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// The connection was stopped.
    Shutdown,
    /// The connection is closed, or closed while waiting.
    ConnectionClosed,
    /// The session that the call belongs to is over.
    SessionLost,
    /// The transport failed.
    TransportError,
    /// The transport's queue stayed full.
    Backpressure,
    /// A frame over the limit.
    OversizedFrame,
    /// An answer that is none.
    InvalidResponse,
    /// The peer could not read our frame.
    ParseError,
    /// The peer does not take our message for a request.
    InvalidRequest,
    /// No such method.
    MethodNotFound,
    /// The parameters do not fit.
    InvalidParams,
    /// The peer failed.
    InternalError,
    /// The peer did not advertise the capability.
    CapabilityNotSupported,
    /// The capability exists, in another mode.
    CapabilityMismatch,
    /// No such resource.
    ResourceNotFound,
    /// The tool ran and failed.
    ToolExecutionFailed,
    /// The user said no.
    UserRejected,
    /// The user must visit a URL first.
    UrlElicitationRequired,
    /// The peer does not speak the revision.
    UnsupportedVersion,
    /// The peer's own code, which has no meaning in the protocol.
    ServerError(i64),
}

impl Reason {
    /// The reason that a peer's error gives, in answer to `method`.
    ///
    /// Missing resources have had four codes over time. Those that other
    /// implementations use freely count only with a `uri` in the data, and
    /// only for the method that reads resources.
    #[must_use]
    pub fn of(error: &ErrorObject, method: &str) -> Self {
        let reads = method == "resources/read";
        let names_uri = || {
            let data = error.data.as_ref().map_or("", |data| data.get());
            data.contains("\"uri\"")
        };
        match error.code {
            code::RESOURCE_NOT_FOUND => Self::ResourceNotFound,
            -32000 | -32001 | code::INVALID_PARAMS if reads && names_uri() => {
                Self::ResourceNotFound
            }
            code::PARSE_ERROR => Self::ParseError,
            code::INVALID_REQUEST => Self::InvalidRequest,
            code::METHOD_NOT_FOUND => Self::MethodNotFound,
            code::INVALID_PARAMS => Self::InvalidParams,
            code::INTERNAL_ERROR => Self::InternalError,
            code::MISSING_CLIENT_CAPABILITY => Self::CapabilityNotSupported,
            code::UNSUPPORTED_PROTOCOL_VERSION => Self::UnsupportedVersion,
            code::URL_ELICITATION_REQUIRED => Self::UrlElicitationRequired,
            code::USER_REJECTED => Self::UserRejected,
            other => Self::ServerError(other),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Transport => "transport",
            Self::Protocol => "protocol",
            Self::JsonRpc => "json_rpc",
            Self::State => "state",
            Self::Timeout => "timeout",
            Self::Shutdown => "shutdown",
            Self::Capability => "capability",
            Self::Cancelled => "cancelled",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::RawJson;

    #[track_caller]
    fn check(code: i64, data: Option<&str>, method: &str, expected: Reason) {
        let mut error = ErrorObject::new(code, "no");
        error.data = data.map(|data| RawJson::from_text(data.to_owned()).unwrap());
        assert_eq!(Reason::of(&error, method), expected);
    }

    #[test]
    fn missing_resources_are_recognised_in_every_dialect() {
        let uri = Some(r#"{"uri":"file:///none"}"#);
        check(-32002, None, "resources/read", Reason::ResourceNotFound);
        check(-32000, uri, "resources/read", Reason::ResourceNotFound);
        check(-32602, uri, "resources/read", Reason::ResourceNotFound);
        check(-32602, None, "resources/read", Reason::InvalidParams);
        check(-32000, uri, "tools/call", Reason::ServerError(-32000));
    }
}

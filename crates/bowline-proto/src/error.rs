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
    /// The caller asked for something that cannot be asked for.
    Usage,
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
    /// A list over the limit.
    ListTooLong,
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
    /// No such tool.
    ToolNotFound,
    /// No such prompt.
    PromptNotFound,
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
    ///
    /// Missing tools and prompts have no code of their own: they are invalid
    /// parameters, as bad arguments are. So they are told from those by what
    /// the message says, if it says so in one of the usual ways.
    #[must_use]
    pub fn from_error(error: &ErrorObject, method: &str) -> Self {
        let is_read = method == "resources/read";
        let has_uri = || {
            let data = error.data.as_ref().map_or("", |data| data.get());
            data.contains("\"uri\"")
        };
        match error.code {
            code::RESOURCE_NOT_FOUND => Self::ResourceNotFound,
            -32000 | -32001 | code::INVALID_PARAMS if is_read && has_uri() => {
                Self::ResourceNotFound
            }
            code::INVALID_PARAMS
                if method == "tools/call" && is_not_found_message(error, "tool") =>
            {
                Self::ToolNotFound
            }
            code::INVALID_PARAMS
                if method == "prompts/get" && is_not_found_message(error, "prompt") =>
            {
                Self::PromptNotFound
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

/// Whether a message says that there is no such `thing`, as servers usually do:
/// "Unknown tool: x", "Tool x not found", "no such tool". That "not found"
/// stands somewhere in it is not enough: an argument may not have been found.
fn is_not_found_message(error: &ErrorObject, noun: &str) -> bool {
    let message = error.message.to_ascii_lowercase();
    // Some put the code before what they say.
    let text = match message.strip_prefix("mcp error ") {
        Some(rest) => rest.split_once(": ").map_or(rest, |(_, text)| text),
        None => &message,
    };
    let words: Vec<&str> = text.split_whitespace().take(5).collect();
    let is_noun = |word: &str| word.trim_end_matches([':', ',', '.']) == noun;
    match words[..] {
        ["unknown" | "no", word, ..] | ["no", "such", word, ..] if is_noun(word) => true,
        [word, "not", end, ..] | [word, _, "not", end, ..] if is_noun(word) => {
            end.trim_end_matches([':', ',', '.', '!']) == "found"
        }
        [word, "does", "not", "exist", ..] | [word, _, "does", "not", "exist", ..] => is_noun(word),
        ["invalid", word, name, ..] => is_noun(word) && name.trim_end_matches(':') == "name",
        _ => false,
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
            Self::Usage => "usage",
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
        error.data = data.map(|data| RawJson::from_string(data.to_owned()).unwrap());
        assert_eq!(Reason::from_error(&error, method), expected);
    }

    #[test]
    fn missing_tools_and_prompts_are_told_from_bad_arguments() {
        let check = |message: &str, method: &str, expected: Reason| {
            let error = ErrorObject::new(code::INVALID_PARAMS, message);
            assert_eq!(Reason::from_error(&error, method), expected, "{message}");
        };
        for message in [
            "Unknown tool: sing",
            "Tool not found: sing",
            "Tool sing not found",
            "MCP error -32602: Tool sing not found",
            "no tool sing",
            "No such tool: sing",
            "Tool 'sing' does not exist",
        ] {
            check(message, "tools/call", Reason::ToolNotFound);
            check(message, "prompts/get", Reason::InvalidParams);
            let message = message.replace("tool", "prompt").replace("Tool", "Prompt");
            check(&message, "prompts/get", Reason::PromptNotFound);
        }
        check("Invalid prompt name", "prompts/get", Reason::PromptNotFound);
        for message in [
            "Invalid arguments for tool read: file not found",
            "tool read: path /a not found",
            "no",
            "",
            "file not found",
            "Unknown argument for tool sing",
        ] {
            check(message, "tools/call", Reason::InvalidParams);
        }
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

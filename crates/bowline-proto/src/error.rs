//! Error classification: a coarse [`ErrorKind`] and a fine-grained [`Reason`].

use std::fmt;

use crate::jsonrpc::{ErrorObject, code};

/// The coarse category of an error: who or what caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The transport failed.
    Transport,
    /// The peer broke the protocol.
    Protocol,
    /// The peer answered with a JSON-RPC error, or with a result that says that the tool
    /// failed.
    JsonRpc,
    /// The connection is in a state that does not allow the operation.
    State,
    /// The operation timed out.
    Timeout,
    /// The connection was shut down.
    Shutdown,
    /// The peer does not offer the required capability.
    Capability,
    /// The caller cancelled the operation.
    Cancelled,
    /// The caller made an invalid request.
    Usage,
    /// The application's own settings forbid the operation, such as pinned tools.
    Policy,
}

/// The fine-grained reason for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// No response arrived in time.
    Timeout,
    /// The caller cancelled the call.
    Cancelled,
    /// The connection was shut down.
    Shutdown,
    /// The connection was already closed, or it closed while the call was waiting.
    ConnectionClosed,
    /// The session the call belongs to has ended.
    SessionLost,
    /// The transport failed.
    TransportError,
    /// The transport's outbound queue stayed full.
    Backpressure,
    /// A frame exceeded the size limit.
    OversizedFrame,
    /// A list exceeded the length limit.
    ListTooLong,
    /// The response is not valid.
    InvalidResponse,
    /// The peer could not parse our frame.
    ParseError,
    /// The peer did not accept our message as a valid request.
    InvalidRequest,
    /// The peer does not know the method.
    MethodNotFound,
    /// The parameters are not valid.
    InvalidParams,
    /// The peer had an internal error.
    InternalError,
    /// The peer did not advertise the capability.
    CapabilityNotSupported,
    /// The peer offers the capability, but in a different mode.
    CapabilityMismatch,
    /// The resource was not found.
    ResourceNotFound,
    /// The tool was not found.
    ToolNotFound,
    /// The prompt was not found.
    PromptNotFound,
    /// The tool ran and reported an error.
    ToolExecutionFailed,
    /// The tool is not as it was when someone reviewed it.
    NotAsReviewed,
    /// The user rejected the request.
    UserRejected,
    /// The user must visit a URL first.
    UrlElicitationRequired,
    /// The peer does not support the protocol version.
    UnsupportedVersion,
    /// A code chosen by the peer that the protocol does not define.
    ServerError(i64),
}

impl Reason {
    /// Returns the reason for an error that the peer sent in response to `method`.
    ///
    /// The code for missing resources has changed over time; four are in use. Codes
    /// that other implementations also use for other errors count only if the data has
    /// a `uri` and the method reads resources.
    ///
    /// Missing tools and prompts have no code: they are reported as invalid parameters,
    /// as bad arguments are. They are recognised by the message if it uses one of the
    /// usual phrases.
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

/// Returns whether a message says that `noun` was not found, in one of the phrases
/// servers usually use: "Unknown tool: x", "Tool x not found", "no such tool". "not
/// found" anywhere in the message is not enough: it may refer to an argument.
fn is_not_found_message(error: &ErrorObject, noun: &str) -> bool {
    let message = error.message.to_ascii_lowercase();
    // Some implementations prefix the message with the code.
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
            Self::Policy => "policy",
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

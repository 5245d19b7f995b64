//! The errors a server answers with, with the code and data that each revision
//! specifies.
//!
//! Codes from -32000 to -32019 are never used, except the one that older
//! revisions assign to missing resources.

use serde::Serialize;

use crate::{
    http::status_for_error,
    jsonrpc::{ErrorObject, RawJson, RequestId, code},
    model::{
        ClientCapabilities, DecodeError, ElicitParams, Members, MissingCapabilityData,
        ResourceNotFoundData, UnsupportedVersionData, UrlElicitationRequiredData,
    },
    revision::{Era, Rules},
};

/// Creates the error for a resource that does not exist.
#[must_use]
pub fn resource_not_found(rules: &Rules, uri: &str) -> ErrorObject {
    let message = format!("Resource not found: {uri}");
    with_data(
        ErrorObject::new(rules.resource_not_found, message),
        &ResourceNotFoundData::new(uri),
    )
}

/// Creates the error for a request that needs a capability the client did not
/// declare.
///
/// The handshake era has no code for this, because a server is expected to know
/// what it may ask. There the request is reported as invalid, with the same
/// data.
#[must_use]
pub fn missing_capability(rules: &Rules, required: ClientCapabilities) -> ErrorObject {
    let code = match rules.era {
        Era::Stateless => code::MISSING_CLIENT_CAPABILITY,
        Era::Handshake => code::INVALID_REQUEST,
    };
    let message = match &*capability_paths(&required) {
        [] => "The request requires a client capability".to_owned(),
        [one] => format!("The request requires the client capability {one}"),
        several => {
            let several = several.join(", ");
            format!("The request requires the client capabilities {several}")
        }
    };
    let error = ErrorObject::new(code, message);
    with_data(error, &MissingCapabilityData::new(required))
}

/// Returns the capability paths as the specification writes them. Where a
/// sub-capability is named (the modes of elicitation and sampling), its parent
/// is not.
fn capability_paths(capabilities: &ClientCapabilities) -> Vec<String> {
    const NAMES: [&str; 7] = [
        "elicitation.form",
        "elicitation.url",
        "elicitation",
        "sampling.tools",
        "sampling.context",
        "sampling",
        "roots",
    ];
    let mut names: Vec<&'static str> = Vec::new();
    for name in NAMES {
        let is_child_of = |known: &&str| known.split('.').next() == Some(name);
        if capabilities.has(name) && !names.iter().any(is_child_of) {
            names.push(name);
        }
    }
    let extensions = capabilities.extensions.iter().flat_map(Members::iter);
    let extensions = extensions.map(|(id, _)| format!("extensions.{id}"));
    let names = names.into_iter().map(str::to_owned);
    names.chain(extensions).collect()
}

/// Creates the error for an unsupported version. `supported` may name versions
/// of either era.
#[must_use]
pub fn unsupported_version(supported: Vec<String>, requested: &str) -> ErrorObject {
    let message = format!(
        "Unsupported protocol version; supported: {}",
        supported.join(", ")
    );
    with_data(
        ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, message),
        &UnsupportedVersionData::new(supported, requested),
    )
}

/// Creates the error that asks the user to visit these pages first. Returns
/// `None` if the revision has no such error and the question must be asked
/// another way.
#[must_use]
pub fn url_elicitation_required(
    rules: &Rules,
    elicitations: Vec<ElicitParams>,
) -> Option<ErrorObject> {
    let error = ErrorObject::new(
        rules.url_elicitation_error?,
        "The user must visit a page first",
    );
    Some(with_data(
        error,
        &UrlElicitationRequiredData::new(elicitations),
    ))
}

/// Creates the error for a tool that does not exist.
#[must_use]
pub fn unknown_tool(name: &str) -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, format!("Unknown tool: {name}"))
}

/// Creates the error for a prompt that does not exist.
#[must_use]
pub fn unknown_prompt(name: &str) -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, format!("Unknown prompt: {name}"))
}

/// Creates the error for a cursor that we did not issue.
#[must_use]
pub fn unknown_cursor() -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, "Unknown cursor")
}

/// Creates the error for a method that does not exist here, or whose capability
/// was not declared.
#[must_use]
pub fn unknown_method(method: &str) -> ErrorObject {
    ErrorObject::new(
        code::METHOD_NOT_FOUND,
        format!("Method not found: {method}"),
    )
}

/// Creates the error for invalid parameters; the message contains the path of
/// the fault.
#[must_use]
pub fn invalid_params(error: &DecodeError) -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, format!("Invalid params: {error}"))
}

/// Creates the error for a message that cannot be answered as a request now.
#[must_use]
pub fn invalid_request(reason: &str) -> ErrorObject {
    ErrorObject::new(code::INVALID_REQUEST, format!("Invalid request: {reason}"))
}

/// Creates an internal error. The message is sent to the client: no secrets, no
/// stack traces.
#[must_use]
pub fn internal_error(message: &str) -> ErrorObject {
    ErrorObject::new(code::INTERNAL_ERROR, message)
}

/// Returns the HTTP status of a response with this error in the stateless era.
///
/// Most errors are in-band: the exchange succeeded, the request did not. For
/// errors about required headers and `_meta` members, use the status of
/// [`Rejection`](super::stateless::Rejection), which knows more than the code.
#[must_use]
pub fn http_status(error: &ErrorObject) -> u16 {
    status_for_error(error.code, false)
}

pub(super) fn shutting_down() -> ErrorObject {
    internal_error("The server is shutting down")
}

pub(super) fn too_many(what: &str) -> ErrorObject {
    internal_error(&format!("The server is busy: too many concurrent {what}"))
}

pub(super) fn duplicate_id(id: &RequestId) -> ErrorObject {
    invalid_request(&format!("the id {id} is already in use"))
}

pub(super) fn too_large(size: usize, limit: usize) -> ErrorObject {
    invalid_request(&format!(
        "the message of at least {size} bytes exceeds the limit of {limit} bytes"
    ))
}

/// Our data always encodes. If it ever did not, the error matters more than its
/// data.
fn with_data<T: Serialize>(error: ErrorObject, data: &T) -> ErrorObject {
    match RawJson::encode(data) {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;

    #[test]
    fn missing_resources_have_the_code_of_their_revision() {
        for revision in Revision::ALL {
            let rules = revision.rules();
            let error = resource_not_found(rules, "file:///none");
            assert_eq!(error.code, rules.resource_not_found);
            assert_eq!(error.data.unwrap().get(), r#"{"uri":"file:///none"}"#);
        }
    }

    #[test]
    fn missing_capabilities_are_an_object() {
        let required = serde_json::from_str(r#"{"elicitation":{"url":{}}}"#).unwrap();
        let error = missing_capability(Revision::LATEST.rules(), required);
        assert_eq!(error.code, -32021);
        let message = "The request requires the client capability elicitation.url";
        assert_eq!(error.message, message);
        assert_eq!(
            error.data.unwrap().get(),
            r#"{"requiredCapabilities":{"elicitation":{"url":{}}}}"#
        );
        let old = Revision::LATEST_HANDSHAKE.rules();
        let error = missing_capability(old, ClientCapabilities::default());
        assert_eq!(error.code, -32600, "no code of the other era");
    }

    #[test]
    fn only_one_revision_sends_users_away_by_error() {
        let codes: Vec<_> = Revision::ALL
            .iter()
            .filter_map(|revision| url_elicitation_required(revision.rules(), Vec::new()))
            .map(|error| error.code)
            .collect();
        assert_eq!(codes, [-32042]);
    }

    #[test]
    fn statuses_follow_the_code() {
        let status = |code| http_status(&ErrorObject::new(code, ""));
        assert_eq!(
            [-32700, -32600, -32020, -32021, -32022].map(status),
            [400; 5]
        );
        assert_eq!(status(-32601), 404);
        assert_eq!([-32602, -32603, 7].map(status), [200; 3]);
    }
}

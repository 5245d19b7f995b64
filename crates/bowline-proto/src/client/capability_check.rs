//! Checks of server requests against this client's capabilities.

use crate::{
    jsonrpc::{ErrorObject, code, decode},
    model::{
        ClientCapabilities, CreateMessageParams, ElicitParams, InputKind, InputRequest, method,
    },
};

/// Returns whether we declared the capability for a question of an `input_required`
/// result.
pub(super) fn is_offered(capabilities: &ClientCapabilities, question: &InputRequest) -> bool {
    match &question.kind {
        InputKind::Elicit(params) => capabilities.has(params.required_capability()),
        InputKind::CreateMessage(params) => capabilities.has(params.required_capability()),
        InputKind::ListRoots(_) => capabilities.has("roots"),
        InputKind::Unknown { .. } => false,
    }
}

/// Checks that we declared the capability for a request from the server. Returns the
/// error response otherwise.
pub(super) fn check_request(
    capabilities: &ClientCapabilities,
    name: &str,
    params: Option<&[u8]>,
) -> Result<(), ErrorObject> {
    let params = params.unwrap_or(b"{}");
    let invalid_params = |error| ErrorObject::new(code::INVALID_PARAMS, format!("{error}"));
    match name {
        method::ELICITATION_CREATE if capabilities.has("elicitation") => {
            let params: ElicitParams = decode(params).map_err(invalid_params)?;
            check_capability(capabilities, params.required_capability())
        }
        method::SAMPLING_CREATE_MESSAGE if capabilities.has("sampling") => {
            let params: CreateMessageParams = decode(params).map_err(invalid_params)?;
            check_capability(capabilities, params.required_capability())
        }
        // Methods of extensions, and of tasks that we started.
        other if capabilities.experimental.is_some() && !is_client_method(other) => Ok(()),
        other => Err(ErrorObject::new(
            code::METHOD_NOT_FOUND,
            format!("method not found: this client does not support {other}"),
        )),
    }
}

fn check_capability(
    capabilities: &ClientCapabilities,
    required: &'static str,
) -> Result<(), ErrorObject> {
    if capabilities.has(required) {
        return Ok(());
    }
    let message = format!("this client did not declare the capability {required}");
    Err(ErrorObject::new(code::INVALID_PARAMS, message))
}

/// Returns whether the protocol defines this method.
fn is_client_method(name: &str) -> bool {
    matches!(
        name,
        method::ELICITATION_CREATE | method::SAMPLING_CREATE_MESSAGE | method::ROOTS_LIST
    ) || method::info(name).is_some()
}

//! Whether a call becomes a task.

use std::time::Duration;

use super::errors;
use crate::{
    jsonrpc::{ErrorObject, Member, code, find_member},
    model::{ClientCapabilities, ServerCapabilities, TaskMetadata, TaskSupport, task},
    revision::Rules,
    task::Dialect,
};

/// How a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMode {
    /// With its result.
    Result,
    /// With a task.
    Task {
        /// How long the client wants it to be kept.
        ttl: Option<Duration>,
    },
}

/// Decides how a call of a tool is answered.
///
/// `requested` is the `task` parameter of the call, which counts only where the
/// client decides.
///
/// # Errors
///
/// Returns the error for a client that must ask for a task and does not, or must not
/// and does, or cannot receive the one that the tool always creates.
pub fn call_mode(
    rules: &Rules,
    client: &ClientCapabilities,
    support: &TaskSupport,
    requested: Option<&TaskMetadata>,
) -> Result<CallMode, ErrorObject> {
    match (Dialect::of(&rules.features), support, requested) {
        (Some(Dialect::Core), TaskSupport::Required, None) => Err(ErrorObject::new(
            code::METHOD_NOT_FOUND,
            "The tool must be called as a task: add the parameter `task`",
        )),
        (Some(Dialect::Core), TaskSupport::Optional | TaskSupport::Required, Some(requested)) => {
            let ttl = requested.ttl.map(Duration::from_millis);
            Ok(CallMode::Task { ttl })
        }
        (Some(Dialect::Core), _, Some(_)) => Err(task_forbidden()),
        (Some(Dialect::Extension), TaskSupport::Optional | TaskSupport::Required, _)
            if client.has_extension(task::EXTENSION_ID) =>
        {
            Ok(CallMode::Task { ttl: None })
        }
        (_, TaskSupport::Required, _) => {
            let required = task::required_capability();
            Err(errors::missing_capability(rules, required))
        }
        _ => Ok(CallMode::Result),
    }
}

/// Checks that a call of a tool whose calls never become tasks does not ask for one.
/// A server without tasks ignores the wish.
///
/// # Errors
///
/// Returns an error if it does.
pub fn check_no_task(
    rules: &Rules,
    server: &ServerCapabilities,
    params: &[u8],
) -> Result<(), ErrorObject> {
    if !rules.features.core_tasks || server.tasks.is_none() {
        return Ok(());
    }
    match find_member(params, "task") {
        Member::Absent => Ok(()),
        _ => Err(task_forbidden()),
    }
}

fn task_forbidden() -> ErrorObject {
    let message = "The tool cannot be called as a task: omit the parameter `task`";
    ErrorObject::new(code::METHOD_NOT_FOUND, message)
}

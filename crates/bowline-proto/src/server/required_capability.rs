//! The client capability that a question requires.

use crate::model::{InputKind, InputRequest, method};

/// Returns the client capability that a question requires, as a path for
/// [`ClientCapabilities::has`](crate::model::ClientCapabilities::has). A
/// question that the protocol does not define requires none.
///
/// ```
/// use bowline_proto::{model::ElicitParams, server::required_capability};
///
/// let question = ElicitParams::url("Please sign in", "https://example.com/").into();
/// assert_eq!(required_capability(&question), Some("elicitation.url"));
/// ```
#[must_use]
pub fn required_capability(question: &InputRequest) -> Option<&'static str> {
    match &question.kind {
        InputKind::Elicit(params) => Some(params.required_capability()),
        InputKind::CreateMessage(params) => Some(params.required_capability()),
        InputKind::ListRoots(_) => Some("roots"),
        InputKind::Unknown { method, .. } => task_capability(method),
    }
}

/// Clients may run our calls as tasks, and be asked about them.
fn task_capability(name: &str) -> Option<&'static str> {
    match name {
        method::TASKS_GET | method::TASKS_RESULT => Some("tasks"),
        method::TASKS_LIST => Some("tasks.list"),
        method::TASKS_CANCEL => Some("tasks.cancel"),
        _ => None,
    }
}

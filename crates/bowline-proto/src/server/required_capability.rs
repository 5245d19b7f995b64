//! What a client must have declared to be asked something.

use crate::model::{InputKind, InputRequest, method};

/// The client capability that a question needs, as a path for
/// [`ClientCapabilities::has`](crate::model::ClientCapabilities::has). A
/// question that the protocol does not know needs none.
///
/// ```
/// use bowline_proto::{model::ElicitParams, server::needed_capability};
///
/// let question = ElicitParams::url("Please sign in", "https://example.com/").into();
/// assert_eq!(needed_capability(&question), Some("elicitation.url"));
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

/// Clients may run our calls as tasks, and be asked about those.
fn task_capability(name: &str) -> Option<&'static str> {
    match name {
        method::TASKS_GET | method::TASKS_RESULT => Some("tasks"),
        method::TASKS_LIST => Some("tasks.list"),
        method::TASKS_CANCEL => Some("tasks.cancel"),
        _ => None,
    }
}

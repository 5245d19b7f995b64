//! The client capability that a question requires.

use super::method_check::task_capability;
use crate::model::{InputKind, InputRequest};

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
        // Clients may run our calls as tasks, and be asked about them.
        InputKind::Unknown { method, .. } => task_capability(method),
    }
}

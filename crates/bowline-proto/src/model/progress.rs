//! Progress and cancellation of requests.

use super::{Meta, Number, message::notification, method, object::object};
use crate::jsonrpc::RequestId;

/// The token that ties progress to a request: an integer or a string, like an
/// id.
pub type ProgressToken = RequestId;

object! {
    /// Notifies of the progress of a request.
    pub struct ProgressParams {
        /// The token of the request.
        progress_token: ProgressToken = required "progressToken",
        /// The progress so far; increases with each message.
        progress: Number = required "progress",
        /// The total, if known.
        total: Option<Number> = optional "total",
        /// A message about the current state.
        message: Option<String> = optional "message" if progress_message,
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ProgressParams = method::PROGRESS);

object! {
    /// Cancels a request.
    pub struct CancelledParams {
        /// The request. Only tasks may omit it.
        request_id: Option<RequestId> = optional "requestId",
        /// The reason, for logs and people.
        reason: Option<String> = optional "reason",
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(CancelledParams = method::CANCELLED);

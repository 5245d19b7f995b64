//! How far a request has come, and calling it off.

use super::{Meta, Number, message::notification, method, object::object};
use crate::jsonrpc::RequestId;

/// The token that ties progress to a request: an integer or a string, like an id.
pub type ProgressToken = RequestId;

object! {
    /// Says how far a request has come.
    pub struct ProgressParams {
        /// The token that the request brought.
        progress_token: ProgressToken = required "progressToken",
        /// How far it is; grows with each message.
        progress: Number = required "progress",
        /// How far it has to go, if that is known.
        total: Option<Number> = optional "total",
        /// What is going on.
        message: Option<String> = optional "message" if progress_message,
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ProgressParams = method::PROGRESS);

object! {
    /// Calls a request off.
    pub struct CancelledParams {
        /// Which request. Only tasks may go without.
        request_id: Option<RequestId> = optional "requestId",
        /// Why, for logs and people.
        reason: Option<String> = optional "reason",
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(CancelledParams = method::CANCELLED);

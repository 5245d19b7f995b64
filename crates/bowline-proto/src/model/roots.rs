//! Roots: where a client lets a server work.

use super::{
    Meta,
    message::{notification, request, result},
    method,
    object::object,
};

object! {
    /// Asks the client for its roots.
    pub struct ListRootsParams {
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListRootsParams = method::ROOTS_LIST => ListRootsResult);

object! {
    /// The client's roots.
    pub struct ListRootsResult {
        /// The roots.
        roots: Vec<Root> = required "roots",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(ListRootsResult, untyped);

object! {
    /// A directory or file that a server may work in. Advice, not a fence.
    pub struct Root {
        /// Where it is: a `file` URI.
        uri: String = required "uri",
        /// The name for people.
        name: Option<String> = optional "name",
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// Says that the client's roots changed.
    pub struct RootsListChangedParams {
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(RootsListChangedParams = method::ROOTS_LIST_CHANGED);

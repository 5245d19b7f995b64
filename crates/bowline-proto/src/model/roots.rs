//! Roots: the locations in which a client lets a server work.

use super::{
    Meta,
    message::{notification, request, result},
    method,
    object::object,
};

object! {
    /// Requests the client's roots.
    pub struct ListRootsParams {
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListRootsParams = method::ROOTS_LIST => ListRootsResult);

object! {
    /// The client's roots.
    pub struct ListRootsResult {
        /// The roots.
        roots: Vec<Root> = required "roots",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(ListRootsResult, untyped);

object! {
    /// A directory or file that a server may work in. Advisory, not enforced.
    pub struct Root {
        /// The location: a `file` URI.
        uri: String = required "uri",
        /// The display name.
        name: Option<String> = optional "name",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// Notifies that the client's roots changed.
    pub struct RootsListChangedParams {
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(RootsListChangedParams = method::ROOTS_LIST_CHANGED);

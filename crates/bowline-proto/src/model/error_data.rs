//! The `data` of some errors.

use super::{ClientCapabilities, ElicitParams, object::object};

object! {
    /// The data of
    /// [`UNSUPPORTED_PROTOCOL_VERSION`](crate::jsonrpc::code::UNSUPPORTED_PROTOCOL_VERSION).
    pub struct UnsupportedVersionData {
        /// The versions that the server supports, of either era.
        supported: Vec<String> = required "supported",
        /// The version that the client requested.
        requested: String = required "requested",
    }
}

object! {
    /// The data of
    /// [`MISSING_CLIENT_CAPABILITY`](crate::jsonrpc::code::MISSING_CLIENT_CAPABILITY).
    pub struct MissingCapabilityData {
        /// The capabilities that the client must declare for the request to
        /// succeed.
        required_capabilities: ClientCapabilities = required "requiredCapabilities",
    }
}

object! {
    /// The data of the error for a resource that does not exist.
    pub struct ResourceNotFoundData {
        /// The URI of the request.
        uri: String = required "uri",
    }
}

object! {
    /// The data of
    /// [`URL_ELICITATION_REQUIRED`](crate::jsonrpc::code::URL_ELICITATION_REQUIRED).
    pub struct UrlElicitationRequiredData {
        /// The pages to visit first.
        elicitations: Vec<ElicitParams> = required "elicitations",
    }
}

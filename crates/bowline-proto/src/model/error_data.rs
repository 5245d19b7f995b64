//! What some errors carry in `data`.

use super::{ClientCapabilities, ElicitParams, object::object};

object! {
    /// Beside [`UNSUPPORTED_PROTOCOL_VERSION`](crate::jsonrpc::code::UNSUPPORTED_PROTOCOL_VERSION).
    pub struct UnsupportedVersionData {
        /// The versions that the server speaks, of whatever era.
        supported: Vec<String> = required "supported",
        /// The version that it was asked for.
        requested: String = required "requested",
    }
}

object! {
    /// Beside [`MISSING_CLIENT_CAPABILITY`](crate::jsonrpc::code::MISSING_CLIENT_CAPABILITY).
    pub struct MissingCapabilityData {
        /// What the client must declare for the request to succeed.
        required_capabilities: ClientCapabilities = required "requiredCapabilities",
    }
}

object! {
    /// Beside the error that says that there is no such resource.
    pub struct ResourceNotFoundData {
        /// What was asked for.
        uri: String = required "uri",
    }
}

object! {
    /// Beside [`URL_ELICITATION_REQUIRED`](crate::jsonrpc::code::URL_ELICITATION_REQUIRED).
    pub struct UrlElicitationRequiredData {
        /// The pages to visit first.
        elicitations: Vec<ElicitParams> = required "elicitations",
    }
}

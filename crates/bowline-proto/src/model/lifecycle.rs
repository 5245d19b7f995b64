//! The handshake and pings.

use super::{
    ClientCapabilities, EmptyResult, Implementation, Meta, ServerCapabilities,
    message::{notification, request, result},
    method,
    object::object,
};

object! {
    /// Opens a connection: the client sends its info and capabilities.
    pub struct InitializeParams {
        /// The newest version that the client supports.
        protocol_version: String = required "protocolVersion",
        /// The client's capabilities.
        capabilities: ClientCapabilities = required "capabilities",
        /// The client's name and version.
        client_info: Implementation = required "clientInfo",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(InitializeParams = method::INITIALIZE => InitializeResult);

object! {
    /// The server's response: its info, its capabilities and the version to
    /// use.
    pub struct InitializeResult {
        /// The version of this connection.
        protocol_version: String = required "protocolVersion",
        /// The server's capabilities.
        capabilities: ServerCapabilities = required "capabilities",
        /// The server's name and version.
        server_info: Implementation = required "serverInfo",
        /// How to use the server, for the model.
        instructions: Option<String> = optional "instructions",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(InitializeResult, untyped);

object! {
    /// Completes the handshake.
    pub struct InitializedParams {
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(InitializedParams = method::INITIALIZED);

object! {
    /// Checks whether the peer is alive.
    pub struct PingParams {
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(PingParams = method::PING => EmptyResult);

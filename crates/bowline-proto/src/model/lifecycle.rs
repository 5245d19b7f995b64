//! The handshake, and checking that the peer is still there.

use super::{
    ClientCapabilities, EmptyResult, Implementation, Meta, ServerCapabilities,
    message::{notification, request, result},
    method,
    object::object,
};

object! {
    /// Opens a connection: the client says who it is and what it can do.
    pub struct InitializeParams {
        /// The newest version that the client wants to speak.
        protocol_version: String = required "protocolVersion",
        /// What the client can do.
        capabilities: ClientCapabilities = required "capabilities",
        /// Who the client is.
        client_info: Implementation = required "clientInfo",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(InitializeParams = method::INITIALIZE => InitializeResult);

object! {
    /// The server's answer: who it is, what it can do, what version it is to be.
    pub struct InitializeResult {
        /// The version of this connection.
        protocol_version: String = required "protocolVersion",
        /// What the server can do.
        capabilities: ServerCapabilities = required "capabilities",
        /// Who the server is.
        server_info: Implementation = required "serverInfo",
        /// How to use the server, for the model.
        instructions: Option<String> = optional "instructions",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(InitializeResult, untyped);

object! {
    /// Ends the handshake.
    pub struct InitializedParams {
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(InitializedParams = method::INITIALIZED);

object! {
    /// Asks whether the peer is there.
    pub struct PingParams {
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(PingParams = method::PING => EmptyResult);

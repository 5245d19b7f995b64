//! The client over memory, in paused time.

mod calls;
mod cancel;
mod errors;
mod handlers;
mod lifecycle;
mod notifications;
mod observers;
mod pages;
#[cfg(feature = "lock")]
mod pinned_call_options;
#[cfg(feature = "lock")]
mod pins;
mod reconnect;
mod stateless;
mod subscriptions;
mod suspended;
mod tasks;
mod trouble;

use bowline::{
    Client,
    client::ClientBuilder,
    testing::{FakeServer, FakeSession, ServerProfile},
    transport::Transport,
};
use serde_json::{Value, json};

/// A client with an open session, and the server's end.
pub(crate) async fn connected(profile: ServerProfile) -> (Client, FakeSession, FakeServer) {
    connected_with(Client::builder(), profile).await
}

/// The same, of a client that is set up in some way.
pub(crate) async fn connected_with(
    builder: ClientBuilder,
    profile: ServerProfile,
) -> (Client, FakeSession, FakeServer) {
    let (transport, server) = FakeServer::new(profile);
    opened(builder, transport, server).await
}

/// The same, over any transport that leads to the server.
pub(crate) async fn opened(
    builder: ClientBuilder,
    transport: impl Transport,
    mut server: FakeServer,
) -> (Client, FakeSession, FakeServer) {
    let connecting = builder.seed(1).connect(transport);
    let (client, session) = tokio::join!(connecting, server.session());
    (client.expect("the server is well"), session, server)
}

/// The result of a tool that says something.
pub(crate) fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

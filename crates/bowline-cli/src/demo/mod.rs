//! The built-in server, and the tour that shows it.
//!
//! It is an ordinary server on the public API, to experiment with and to read:
//! `basics` has tools that only respond, `travel` has tools that ask questions,
//! `library` has resources and prompts, `clock` a resource that changes.
//! `secret` and `journal_store` let a conversation resume in another process.

mod app;
mod basics;
mod clock;
mod journal_store;
mod library;
mod picture;
mod secret;
pub(crate) mod tour;
mod travel;

use bowline::{
    Server,
    server::{BuildError, Service, store::MemorySealedStateStore},
    transport::Transport,
};

pub(crate) use self::app::{App, ServerLocation};
use crate::failure::Failure;

/// The line with which a separate server process announces itself, before its
/// process id.
const READY: &str = "ready, process ";

/// Returns a transport to a demo server inside this process.
pub(crate) fn transport() -> Result<Box<dyn Transport>, Failure> {
    Ok(Box::new(service(ServerLocation::InProcess)?.in_memory()))
}

/// Builds the demo server.
pub(crate) fn service(location: ServerLocation) -> Result<Service<App>, Failure> {
    let app = App::new(location)?;
    let seal_keys = app.secret.seal_keys();
    let (on_subscriptions, is_subscribed) = clock::subscription_listener();
    let server = Server::new("demo", env!("CARGO_PKG_VERSION"))
        .title("Bowline's demo")
        .description("Something of everything that a server can offer")
        .instructions("Everything here is for trying things out: nothing is really booked.")
        .seal_keys(seal_keys)
        .journal_store(journal_store::for_user())
        .sealed_state_store(MemorySealedStateStore::new())
        .state(app)
        .on_subscriptions_changed(on_subscriptions);
    let server = basics::register(server);
    let server = travel::register(server);
    let server = library::register(server).resource(clock::resource());
    let service = server
        .build()
        .map_err(|error: BuildError| Failure::usage(error.to_string()))?;
    tokio::spawn(clock::tick(service.clone(), is_subscribed));
    Ok(service)
}

/// Writes the process id to standard error, for users who want to inspect or
/// kill it.
pub(crate) fn announce(service: &Service<App>) {
    let process = std::process::id();
    service.state().log_to_stderr(&format!("{READY}{process}"));
}

//! The server that is built in, and the tour that shows it.
//!
//! It is an ordinary server on the public API, to try things on and to read:
//! `basics` has tools that only answer, `travel` has tools that ask, `library`
//! has resources and prompts, `clock` a resource that changes. `secret` and
//! `journals` let a conversation go on in another process.

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
    server::{BuildError, Service, store::MemoryStateStore},
    transport::Transport,
};

pub(crate) use self::app::{App, ServerLocation};
use crate::failure::Failure;

/// How a server of its own process announces itself, before its number.
const READY: &str = "ready, process ";

/// The way to a demo server within this process.
pub(crate) fn transport() -> Result<Box<dyn Transport>, Failure> {
    Ok(Box::new(service(ServerLocation::InProcess)?.in_memory()))
}

/// The demo server, ready to serve.
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
        .state_store(MemoryStateStore::new())
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

/// Writes to standard error which process serves, for those who want to look
/// at it, or to end it.
pub(crate) fn announce(service: &Service<App>) {
    let process = std::process::id();
    service.state().log_to_stderr(&format!("{READY}{process}"));
}

//! The server that is built in.

use bowline::{Server, transport::Transport};

use crate::failure::Failure;

/// The way to a demo server within this process.
pub(crate) fn transport() -> Result<Box<dyn Transport>, Failure> {
    let service = Server::new("demo", env!("CARGO_PKG_VERSION"))
        .build()
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Box::new(service.in_memory()))
}

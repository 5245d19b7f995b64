//! What goes over the wire: shown, written down, played back.

use bowline::transport::Transport;

use crate::{args::Globals, failure::Failure};

/// The same way, watched as the options say.
pub(crate) fn watch(
    transport: Box<dyn Transport>,
    _globals: &Globals,
) -> Result<Box<dyn Transport>, Failure> {
    Ok(transport)
}

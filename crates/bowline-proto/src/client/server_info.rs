//! What is known of the server once a session is open.

use crate::{
    model::{DiscoverResult, Implementation, InitializeResult, ServerCapabilities},
    revision::Revision,
};

/// The experimental capability by which a server declares that it takes calls
/// of one mode only.
const TOOL_MODES: &str = "dev.bowline/tool-modes";

/// The server at the other end, as it described itself. Display its name; do
/// not trust it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerInfo {
    /// The revision that is spoken with it.
    pub revision: Revision,
    /// What it offers.
    pub capabilities: ServerCapabilities,
    /// What it calls itself, if it said so.
    pub info: Option<Implementation>,
    /// How it wants to be used, if it said so.
    pub instructions: Option<String>,
}

impl ServerInfo {
    pub(super) fn from_initialize_result(revision: Revision, result: InitializeResult) -> Self {
        Self {
            revision,
            capabilities: result.capabilities,
            info: Some(result.server_info),
            instructions: result.instructions,
        }
    }

    pub(super) fn from_discover_result(revision: Revision, result: DiscoverResult) -> Self {
        Self {
            revision,
            capabilities: result.capabilities,
            info: result
                .meta
                .as_ref()
                .and_then(|meta| meta.server_info().ok().flatten()),
            instructions: result.instructions,
        }
    }

    /// Whether the server advertised a capability, named as a path. A key that
    /// is there counts, whatever it holds.
    #[must_use]
    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.has(capability)
            // The first revision offers completions without saying so.
            || (capability == "completions" && !self.revision.rules().dialect.completions_capability)
    }

    /// Whether the server declared to take stateless calls only.
    #[must_use]
    pub fn is_stateless_only(&self) -> bool {
        let experimental = self.capabilities.experimental.as_ref();
        let modes = experimental.and_then(|all| all.get(TOOL_MODES));
        modes.is_some_and(|modes| modes.get() == "\"stateless\"")
    }
}

//! The server's description of itself, known once a session is open.

use crate::{
    model::{DiscoverResult, Implementation, InitializeResult, ServerCapabilities},
    revision::Revision,
};

/// The experimental capability by which a server declares that it accepts calls of only
/// one mode.
const TOOL_MODES: &str = "dev.bowline/tool-modes";

/// The server's description of itself. Display its name; do not trust it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerInfo {
    /// The negotiated revision.
    pub revision: Revision,
    /// The capabilities it advertised.
    pub capabilities: ServerCapabilities,
    /// Its name and version, if provided.
    pub info: Option<Implementation>,
    /// Its usage instructions, if provided.
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

    /// Returns whether the server advertised a capability, given as a path. A key that
    /// is present counts, whatever its value.
    #[must_use]
    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.has(capability)
            // The first revision offers completions without declaring them.
            || (capability == "completions" && !self.revision.rules().features.completions_capability)
    }

    /// Returns whether the server declared that it accepts only stateless calls.
    #[must_use]
    pub fn is_stateless_only(&self) -> bool {
        let experimental = self.capabilities.experimental.as_ref();
        let modes = experimental.and_then(|all| all.get(TOOL_MODES));
        modes.is_some_and(|modes| modes.get() == "\"stateless\"")
    }
}

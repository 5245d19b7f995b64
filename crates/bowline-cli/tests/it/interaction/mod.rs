//! Questions from servers, and who answers.

#[cfg(unix)]
mod people;
mod scripts;
mod suspended;

use crate::rig::{Rig, example};

const HANDSHAKE: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// A home in which the server `asker` is configured.
fn rig() -> Rig {
    let rig = Rig::empty();
    configure(&rig, &serde_json::json!({}));
    rig
}

/// Configures the server `asker`, with these variables.
fn configure(rig: &Rig, env: &serde_json::Value) {
    let server = serde_json::json!({"command": example("asker"), "env": env});
    rig.configure(&serde_json::json!({"mcpServers": {"asker": server}}));
}

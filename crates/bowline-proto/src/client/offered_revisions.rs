//! The revisions that this client is configured to allow.

use super::core::Core;
use crate::revision::{Era, Revision, choose_stateless_version};

/// Returns the allowed handshake revisions, newest first.
pub(super) fn handshake_revisions(core: &Core) -> impl Iterator<Item = Revision> {
    let mut allowed: Vec<_> = core.config.revisions.clone();
    allowed.retain(|revision| revision.rules().era == Era::Handshake);
    allowed.sort_unstable();
    allowed.into_iter().rev()
}

/// Returns the newest stateless revision that both sides allow.
pub(super) fn common_stateless_revision(core: &Core, versions: &[String]) -> Option<Revision> {
    choose_stateless_version(versions).filter(|revision| core.config.revisions.contains(revision))
}

/// Returns the newest allowed stateless revision.
pub(super) fn stateless_revision(core: &Core) -> Option<Revision> {
    let allowed = core.config.revisions.iter().copied();
    allowed
        .filter(|revision| revision.rules().era == Era::Stateless)
        .max()
}

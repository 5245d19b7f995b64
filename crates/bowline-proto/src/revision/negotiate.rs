//! Negotiation of the protocol revision.

use super::{Era, Revision};

/// Returns the revision a server answers a handshake with: the requested one if it is
/// in `supported` and has a handshake, otherwise the newest handshake revision in
/// `supported`.
///
/// If `supported` has no handshake revision, returns the newest one that this crate
/// supports; the client then accepts or rejects it.
#[must_use]
pub fn negotiate_handshake(requested: &str, supported: &[Revision]) -> Revision {
    accept_handshake_version(requested, supported).unwrap_or_else(|| {
        supported
            .iter()
            .copied()
            .filter(|revision| revision.era() == Era::Handshake)
            .max()
            .unwrap_or(Revision::LATEST_HANDSHAKE)
    })
}

/// Returns the revision for the version in the server's handshake response, or `None`
/// if the client does not allow it.
#[must_use]
pub fn accept_handshake_version(version: &str, allowed: &[Revision]) -> Option<Revision> {
    Revision::parse(version)
        .filter(|revision| revision.era() == Era::Handshake && allowed.contains(revision))
}

/// Returns the newest stateless revision in a server's list of versions, or `None` if
/// this crate supports none of them.
///
/// ```
/// use bowline_proto::revision::{Revision, choose_stateless_version};
///
/// let listed = ["2025-11-25".to_owned(), "2026-07-28".to_owned()];
/// assert_eq!(choose_stateless_version(&listed), Some(Revision::LATEST));
/// ```
#[must_use]
pub fn choose_stateless_version(supported: &[String]) -> Option<Revision> {
    supported
        .iter()
        .filter_map(|version| Revision::parse(version))
        .filter(|revision| revision.era() == Era::Stateless)
        .max()
}

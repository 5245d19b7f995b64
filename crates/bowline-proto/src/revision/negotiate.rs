//! Agreeing on a revision.

use super::{Era, Revision};

/// The server's answer to a handshake: the version it was asked for if that is
/// among those it supports and has a handshake, else the newest that is both.
///
/// Where none is both, the newest handshake revision of this crate, which the
/// client will take or leave.
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

/// The client's reading of the server's answer: the revision of the connection,
/// or nothing if it is not one that the client allows.
#[must_use]
pub fn accept_handshake_version(version: &str, allowed: &[Revision]) -> Option<Revision> {
    Revision::parse(version)
        .filter(|revision| revision.era() == Era::Handshake && allowed.contains(revision))
}

/// The newest stateless revision among the versions that a server lists, if
/// this crate speaks one of them.
///
/// ```
/// use bowline_proto::revision::{Revision, choose_stateless};
///
/// let listed = ["2025-11-25".to_owned(), "2026-07-28".to_owned()];
/// assert_eq!(choose_stateless(&listed), Some(Revision::LATEST));
/// ```
#[must_use]
pub fn choose_stateless_version(supported: &[String]) -> Option<Revision> {
    supported
        .iter()
        .filter_map(|version| Revision::parse(version))
        .filter(|revision| revision.era() == Era::Stateless)
        .max()
}

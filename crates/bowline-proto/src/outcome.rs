//! Call outcomes: every call ends with exactly one, exactly once.

use bytes::Bytes;

use crate::jsonrpc::ErrorObject;

/// The outcome of a call to the peer.
///
/// `F` is the reason for a missing response, which differs between the two sides:
/// see [`client::Failure`](crate::client::Failure) and
/// [`server::Failure`](crate::server::Failure).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<F> {
    /// The peer's result, verbatim: a slice of the received frame, to be decoded by the
    /// caller.
    Result(Bytes),
    /// The peer answered with an error.
    Error(ErrorObject),
    /// There is no response.
    Failed(F),
}

//! Errors for rounds that cannot be replayed.

use super::replayer::{Divergence, RunFailure};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, code},
        server::errors,
    },
    server::store::StoreError,
};

/// Returns the error for a rejected request state.
pub(crate) fn invalid_state(why: &str) -> ErrorObject {
    let message = format!("Invalid params: requestState was rejected: {why}");
    ErrorObject::new(code::INVALID_PARAMS, message)
}

/// Returns the error for an expired conversation, whether its state or its
/// store reports it.
pub(crate) fn expired() -> ErrorObject {
    invalid_state("it has expired: repeat the call without it")
}

pub(crate) fn store_failed(error: &StoreError) -> ErrorObject {
    errors::internal_error(&format!("The server's store failed: {error}"))
}

impl RunFailure {
    /// Returns the error for the client and the author.
    pub(crate) fn into_error_object(self) -> ErrorObject {
        let divergence = match self {
            Self::Failed(error) => return error,
            Self::Abandoned => return errors::internal_error("The caller disconnected"),
            Self::Expired => return expired(),
            Self::Diverged(Divergence::Changed(id)) => {
                format!("{id:?} is a different question or step than before")
            }
            Self::Diverged(Divergence::Missing(id)) => {
                format!("{id:?} was asked or run before, but not this time")
            }
            Self::Diverged(Divergence::Awaited(id)) => {
                format!("{id:?} was abandoned before, but is awaited this time")
            }
        };
        errors::internal_error(&format!(
            "The conversation diverged on replay: {divergence}. \
             Run nondeterministic code in a step."
        ))
    }
}

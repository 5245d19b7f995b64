//! What a client is told whose round cannot be played.

use super::replayer::{Divergence, ReplayError};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, code},
        server::errors,
    },
    server::store::StoreError,
};

/// A state is not taken up.
pub(crate) fn invalid_state(why: &str) -> ErrorObject {
    let message = format!("Invalid params: requestState is refused: {why}");
    ErrorObject::new(code::INVALID_PARAMS, message)
}

/// Why a conversation is too old, whether its state says so or its store.
pub(crate) fn expired() -> ErrorObject {
    invalid_state("it is too old: make the call anew, without it")
}

pub(crate) fn store_failed(error: &StoreError) -> ErrorObject {
    errors::internal_error(&format!("The store of the server failed: {error}"))
}

impl ReplayError {
    /// What the client and the author are told.
    pub(crate) fn into_error_object(self) -> ErrorObject {
        let divergence = match self {
            Self::Failed(error) => return error,
            Self::Abandoned => return errors::internal_error("The caller has left"),
            Self::Expired => return expired(),
            Self::Diverged(Divergence::Changed(id)) => {
                format!("{id:?} is another question than before")
            }
            Self::Diverged(Divergence::Missing(id)) => {
                format!("{id:?} was asked or done before, and now is not")
            }
            Self::Diverged(Divergence::Awaited(id)) => {
                format!("{id:?} was given up before, and now is waited for")
            }
        };
        errors::internal_error(&format!(
            "The conversation did not take the same path again: {divergence}. \
             What may differ from run to run belongs in a step."
        ))
    }
}

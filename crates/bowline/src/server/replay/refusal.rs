//! What a client is told whose round cannot be played.

use super::stage::{Divergence, Fault};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, code},
        server::errors,
    },
    server::store::StoreError,
};

/// A state is not taken up.
pub(crate) fn refused(why: &str) -> ErrorObject {
    let message = format!("Invalid params: requestState is refused: {why}");
    ErrorObject::new(code::INVALID_PARAMS, message)
}

/// Why a conversation is too old, whether its state says so or its store.
pub(crate) fn expired() -> ErrorObject {
    refused("it is too old: make the call anew, without it")
}

pub(crate) fn store_failed(error: &StoreError) -> ErrorObject {
    errors::internal(&format!("The store of the server failed: {error}"))
}

impl Fault {
    /// What the client and the author are told.
    pub(crate) fn explain(self) -> ErrorObject {
        let what = match self {
            Self::Failed(error) => return error,
            Self::Abandoned => return errors::internal("The caller has left"),
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
        errors::internal(&format!(
            "The conversation did not take the same path again: {what}. \
             What may differ from run to run belongs in a step."
        ))
    }
}

//! Who asks, and under what rules.

use std::sync::Arc;

use super::{Client, PlainCall, config::Introduction, needed_capability, plain_call::Places};
use crate::{
    model::{Implementation, InputRequest, LogLevel, ProgressToken},
    revision::{Era, Revision, Rules},
};

/// All that a request says besides what it asks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestContext {
    /// The rules of the revision that the request was made in.
    pub rules: &'static Rules,
    /// Who asks: by the handshake, or by this request alone.
    pub client: Arc<Client>,
    /// Who answers.
    pub server: Arc<Implementation>,
    /// The same as results say it, where they do.
    pub(super) introduction: Option<Arc<Introduction>>,
    /// The token under which the client wants to hear of progress.
    pub progress_token: Option<ProgressToken>,
    /// From which severity on the client wants log messages about this request,
    /// where each request says that for itself.
    pub log_level: Option<LogLevel>,
    /// Where the parts of the call of a tool are, if they were seen on the way.
    pub(super) call: Option<Places>,
}

impl RequestContext {
    /// The revision that the request was made in.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.rules.revision
    }

    /// The era that the request belongs to.
    #[must_use]
    pub fn era(&self) -> Era {
        self.rules.era
    }

    /// Takes the call of a tool apart: the `params` must be those of this
    /// request. There is nothing where they have to be decoded.
    #[must_use]
    pub fn plain_call<'a>(&self, params: &'a [u8]) -> Option<PlainCall<'a>> {
        match &self.call {
            Some(places) => places.call(params),
            None => PlainCall::read(params),
        }
    }

    /// The capability that the client lacks for a question, if it lacks one.
    #[must_use]
    pub fn lacks(&self, question: &InputRequest) -> Option<&'static str> {
        needed_capability(question).filter(|needed| !self.client.capabilities.has(needed))
    }
}

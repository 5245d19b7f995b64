//! Who asks, and under what rules.

use std::sync::Arc;

use super::{
    ClientInfo, ParsedCall, config::EncodedServerInfo, parsed_call::CallSpans, required_capability,
};
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
    pub client: Arc<ClientInfo>,
    /// Who answers.
    pub server_info: Arc<Implementation>,
    /// The same as results say it, where they do.
    pub(super) server_info_json: Option<Arc<EncodedServerInfo>>,
    /// The token under which the client wants to hear of progress.
    pub progress_token: Option<ProgressToken>,
    /// From which severity on the client wants log messages about this request,
    /// where each request says that for itself.
    pub log_level: Option<LogLevel>,
    /// Where the parts of the call of a tool are, if they were seen on the way.
    pub(super) call_spans: Option<CallSpans>,
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
    pub fn parse_call<'a>(&self, params: &'a [u8]) -> Option<ParsedCall<'a>> {
        match &self.call_spans {
            Some(spans) => spans.parse_call(params),
            None => ParsedCall::parse(params),
        }
    }

    /// The capability that the client lacks for a question, if it lacks one.
    #[must_use]
    pub fn missing_capability(&self, question: &InputRequest) -> Option<&'static str> {
        required_capability(question).filter(|capability| !self.client.capabilities.has(capability))
    }
}

//! The context of a request: its client and its rules.

use std::sync::Arc;

use super::{ClientInfo, Config, config::EncodedServerInfo, required_capability};
use crate::{
    model::{Implementation, InputRequest, LogLevel, ProgressToken},
    revision::{Era, Revision, Rules},
};

/// The context of a request: everything besides its method and parameters.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestContext {
    /// The rules of the request's revision.
    pub rules: &'static Rules,
    /// The client, as described in the handshake or in this request.
    pub client: Arc<ClientInfo>,
    /// The server that answers.
    pub server_info: Arc<Implementation>,
    /// The encoded server info, for revisions whose results carry it.
    pub(super) server_info_json: Option<Arc<EncodedServerInfo>>,
    /// The token for progress notifications, if the client wants them.
    pub progress_token: Option<ProgressToken>,
    /// The minimum severity of log messages about this request, in revisions
    /// where each request sets its own.
    pub log_level: Option<LogLevel>,
}

impl RequestContext {
    /// Creates the context of a request that does not come from a connection, such
    /// as one that is run again for a client that has left.
    #[must_use]
    pub fn detached(config: &Config, revision: Revision, client: Arc<ClientInfo>) -> Self {
        let rules = revision.rules();
        Self {
            rules,
            client,
            server_info: Arc::clone(&config.server_info),
            server_info_json: config.encoded_server_info(rules),
            progress_token: None,
            log_level: None,
        }
    }

    /// Returns the revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.rules.revision
    }

    /// Returns the era of the request.
    #[must_use]
    pub fn era(&self) -> Era {
        self.rules.era
    }

    /// Returns the capability that the client lacks for a question, if any.
    #[must_use]
    pub fn missing_capability(&self, question: &InputRequest) -> Option<&'static str> {
        required_capability(question).filter(|capability| !self.client.capabilities.has(capability))
    }
}

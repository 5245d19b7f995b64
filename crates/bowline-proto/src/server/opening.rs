//! How a client learns who we are: by handshake, or by asking.

use std::sync::Arc;

use super::{
    Client, Config, Connection, Event, RequestContext, Telemetry, Violation, client,
    encode_response, errors,
    inbound::Arrival,
    session::{Session, Watched},
};
use crate::{
    jsonrpc::{ErrorObject, response},
    model::{
        Adapt, DiscoverResult, Implementation, InitializeParams, InitializeResult, decode_params,
    },
    revision::{Era, Rules, negotiate_handshake},
};

/// What `server/discover` tells of a server. Encode it with
/// [`encode_result`](super::encode_result), which says who the server is.
#[must_use]
pub fn discovery(config: &Config) -> DiscoverResult {
    let ttl = i64::try_from(config.discovery.ttl.as_millis()).unwrap_or(i64::MAX);
    let mut result = DiscoverResult::new(config.versions(), config.capabilities.clone());
    result.instructions.clone_from(&config.instructions);
    result.ttl_ms = Some(ttl);
    result.cache_scope = Some(config.discovery.scope.clone());
    result
}

impl Connection {
    pub(super) fn discover(
        &mut self,
        arrival: &Arrival<'_>,
        context: &RequestContext,
    ) -> Result<(), ErrorObject> {
        let result = discovery(&self.core.config);
        let frame = encode_response(context, arrival.id, result)
            .map_err(|error| errors::internal(&error.to_string()))?;
        self.core.answer(None, frame);
        Ok(())
    }

    pub(super) fn initialize(&mut self, arrival: &Arrival<'_>) -> Result<(), ErrorObject> {
        if arrival.batched {
            return Err(errors::invalid_request("initialize comes alone"));
        }
        let params = decode_params::<InitializeParams>(arrival.params);
        if !self.core.config.speaks(Era::Handshake) {
            let requested = params.map_or(String::new(), |params| params.protocol_version);
            let supported = self.core.config.versions();
            return Err(errors::unsupported_version(supported, &requested));
        }
        if self.session.is_some() {
            self.core.violation(Violation::SecondInitialize, 0);
            return Err(errors::invalid_request("the session is open already"));
        }
        self.refuse_while_draining()?;
        let params = params.map_err(|fault| errors::invalid_params(&fault))?;
        let said = client::weigh(&[arrival.params.unwrap_or_default()])?;
        let config = &self.core.config;
        let revision = negotiate_handshake(&params.protocol_version, &config.revisions);
        let result = introduction(config, revision.rules());
        let frame =
            response(arrival.id, &result).map_err(|error| errors::internal(&error.to_string()))?;
        self.session = Some(Session {
            rules: revision.rules(),
            client: Arc::new(Client {
                capabilities: params.capabilities,
                info: Some(params.client_info),
            }),
            initialized: false,
            log_level: config.default_log_level.clone(),
            watched: Watched::default(),
            said,
        });
        self.core.answer(None, frame);
        self.core.observe(|| Telemetry::SessionOpened { revision });
        self.core.event(Event::Opened { revision });
        Ok(())
    }
}

/// Our part of a handshake.
fn introduction(config: &Config, rules: &Rules) -> InitializeResult {
    let identity = Implementation::clone(&config.identity);
    let version = rules.revision.as_str();
    let mut result = InitializeResult::new(version, config.capabilities.clone(), identity);
    result.instructions.clone_from(&config.instructions);
    result.adapt(&rules.dialect);
    result
}

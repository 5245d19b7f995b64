//! The handshake and `server/discover`.

use std::sync::Arc;

use super::{
    ClientInfo, Config, Connection, Event, RequestContext, TelemetryEvent, Violation, client_info,
    encode_response, errors,
    inbound::IncomingRequest,
    session::{Session, SubscribedUris},
};
use crate::{
    jsonrpc::{ErrorObject, response},
    model::{
        Adapt, DiscoverResult, Implementation, InitializeParams, InitializeResult, decode_params,
    },
    revision::{Era, Rules, negotiate_handshake},
};

/// Builds the result of `server/discover`. Encode it with
/// [`encode_result`](super::encode_result), which adds the server info.
#[must_use]
pub fn discover_result(config: &Config) -> DiscoverResult {
    let ttl = i64::try_from(config.discover_cache.ttl.as_millis()).unwrap_or(i64::MAX);
    let mut result = DiscoverResult::new(config.supported_versions(), config.capabilities.clone());
    result.instructions.clone_from(&config.instructions);
    result.ttl_ms = Some(ttl);
    result.cache_scope = Some(config.discover_cache.scope.clone());
    result
}

impl Connection {
    pub(super) fn discover(
        &mut self,
        incoming: &IncomingRequest<'_>,
        context: &RequestContext,
    ) -> Result<(), ErrorObject> {
        let result = discover_result(&self.core.config);
        let frame = encode_response(context, incoming.id, result)
            .map_err(|error| errors::internal_error(&error.to_string()))?;
        self.core.send_response(None, frame);
        Ok(())
    }

    pub(super) fn initialize(&mut self, incoming: &IncomingRequest<'_>) -> Result<(), ErrorObject> {
        if incoming.batched {
            return Err(errors::invalid_request(
                "initialize must not be part of a batch",
            ));
        }
        let params = decode_params::<InitializeParams>(incoming.params);
        if !self.core.config.supports_era(Era::Handshake) {
            let requested = params.map_or(String::new(), |params| params.protocol_version);
            let supported = self.core.config.supported_versions();
            return Err(errors::unsupported_version(supported, &requested));
        }
        if self.session.is_some() {
            self.core.report_violation(Violation::SecondInitialize, 0);
            return Err(errors::invalid_request(
                "the session is already initialized",
            ));
        }
        self.check_not_draining()?;
        let params = params.map_err(|error| errors::invalid_params(&error))?;
        let client_bytes = client_info::check_size(&[incoming.params.unwrap_or_default()])?;
        let config = &self.core.config;
        let revision = negotiate_handshake(&params.protocol_version, &config.revisions);
        let result = initialize_result(config, revision.rules());
        let frame = response(incoming.id, &result)
            .map_err(|error| errors::internal_error(&error.to_string()))?;
        self.session = Some(Session {
            rules: revision.rules(),
            client: Arc::new(ClientInfo {
                capabilities: params.capabilities,
                info: Some(params.client_info),
            }),
            initialized: false,
            log_level: config.default_log_level.clone(),
            subscribed: SubscribedUris::default(),
            client_bytes,
        });
        self.core.send_response(None, frame);
        self.core
            .observe(|| TelemetryEvent::SessionOpened { revision });
        self.core.push_event(Event::SessionOpened { revision });
        Ok(())
    }
}

/// Builds the result of `initialize`.
fn initialize_result(config: &Config, rules: &Rules) -> InitializeResult {
    let identity = Implementation::clone(&config.server_info);
    let version = rules.revision.as_str();
    let mut result = InitializeResult::new(version, config.capabilities.clone(), identity);
    result.instructions.clone_from(&config.instructions);
    result.adapt(&rules.features);
    result
}

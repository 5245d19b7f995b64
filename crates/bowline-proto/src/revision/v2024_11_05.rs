//! Revision 2024-11-05, the first one.

use super::{Era, HttpMode, IdScope, LogLevelSource, Revision, Rules, VersionHeader};
use crate::{
    jsonrpc::code,
    model::{WireFeatures, method as m},
};

pub(super) const RULES: Rules = Rules {
    revision: Revision::V2024_11_05,
    era: Era::Handshake,
    features: WireFeatures {
        roots_list_changed: true,
        ..WireFeatures::MINIMAL
    },
    batching: false,
    server_requests: true,
    resource_not_found: code::RESOURCE_NOT_FOUND,
    url_elicitation_error: None,
    invalid_tool_input_is_result: false,
    log_level: LogLevelSource::Method,
    required_request_meta: &[],
    id_scope: IdScope::Session,
    http: HttpMode::LegacySse,
    version_header: VersionHeader::Never,
    mirror_headers: false,
    sessions: false,
    resumption: false,
    disconnect_cancels: false,
    client_methods: &[CLIENT_METHODS],
    server_methods: &[SERVER_METHODS],
};

/// The methods a client may send in every handshake revision.
pub(super) const CLIENT_METHODS: &[&str] = &[
    m::INITIALIZE,
    m::INITIALIZED,
    m::PING,
    m::TOOLS_LIST,
    m::TOOLS_CALL,
    m::RESOURCES_LIST,
    m::RESOURCES_TEMPLATES_LIST,
    m::RESOURCES_READ,
    m::RESOURCES_SUBSCRIBE,
    m::RESOURCES_UNSUBSCRIBE,
    m::PROMPTS_LIST,
    m::PROMPTS_GET,
    m::COMPLETION_COMPLETE,
    m::LOGGING_SET_LEVEL,
    m::ROOTS_LIST_CHANGED,
    m::CANCELLED,
    m::PROGRESS,
];

/// The methods a server may send in every handshake revision.
pub(super) const SERVER_METHODS: &[&str] = &[
    m::PING,
    m::SAMPLING_CREATE_MESSAGE,
    m::ROOTS_LIST,
    m::TOOLS_LIST_CHANGED,
    m::RESOURCES_LIST_CHANGED,
    m::RESOURCES_UPDATED,
    m::PROMPTS_LIST_CHANGED,
    m::MESSAGE,
    m::CANCELLED,
    m::PROGRESS,
];

//! Revision 2026-07-28: no handshake, no sessions, no requests from the server.
//!
//! Each request carries what the server must know about the client in `_meta`. A server
//! asks questions in its result, and the client sends the request again with the
//! answers. The log level and subscriptions also belong to a single request. Results
//! state their type and how long they may be cached. HTTP uses only POST, and a broken
//! stream cancels the request. Tasks are an extension, not part of the core.

use super::{Era, HttpMode, IdScope, LogLevelSource, Revision, Rules, VersionHeader, v2025_11_25};
use crate::{
    jsonrpc::code,
    model::{ElicitationFeatures, StructuredContent, WireFeatures, meta::key, method as m},
};

pub(super) const RULES: Rules = Rules {
    revision: Revision::V2026_07_28,
    era: Era::Stateless,
    features: WireFeatures {
        sender_in_meta: true,
        structured_content: StructuredContent::Any,
        elicitation: ElicitationFeatures {
            url_id: false,
            ..v2025_11_25::RULES.features.elicitation
        },
        core_tasks: false,
        roots_list_changed: false,
        result_type: true,
        cache_hints: true,
        input_rounds: true,
        ..v2025_11_25::RULES.features
    },
    server_requests: false,
    resource_not_found: code::INVALID_PARAMS,
    url_elicitation_error: None,
    log_level: LogLevelSource::RequestMeta,
    required_request_meta: &[key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES],
    id_scope: IdScope::InFlight,
    http: HttpMode::PostOnly,
    version_header: VersionHeader::EveryRequest,
    mirror_headers: true,
    sessions: false,
    resumption: false,
    disconnect_cancels: true,
    client_methods: &[&[
        m::DISCOVER,
        m::TOOLS_LIST,
        m::TOOLS_CALL,
        m::RESOURCES_LIST,
        m::RESOURCES_TEMPLATES_LIST,
        m::RESOURCES_READ,
        m::PROMPTS_LIST,
        m::PROMPTS_GET,
        m::COMPLETION_COMPLETE,
        m::SUBSCRIPTIONS_LISTEN,
        m::TASKS_GET,
        m::TASKS_UPDATE,
        m::TASKS_CANCEL,
        m::CANCELLED,
    ]],
    server_methods: &[&[
        m::TOOLS_LIST_CHANGED,
        m::RESOURCES_LIST_CHANGED,
        m::RESOURCES_UPDATED,
        m::PROMPTS_LIST_CHANGED,
        m::SUBSCRIPTIONS_ACKNOWLEDGED,
        m::TASKS_CHANGED,
        m::MESSAGE,
        m::CANCELLED,
        m::PROGRESS,
    ]],
    ..v2025_11_25::RULES
};

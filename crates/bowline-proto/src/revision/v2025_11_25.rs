//! Revision 2025-11-25: core tasks, icons, URL elicitation and richer forms, tools in
//! sampling, streams that a server may close for polling. Invalid tool arguments
//! produce a result, so the model can correct them.
//!
//! The schema of this revision has no `extensions` capability, but peers negotiate
//! extensions that way, so it is allowed.

use super::{HttpMode, Revision, Rules, v2024_11_05, v2025_06_18};
use crate::{
    jsonrpc::code,
    model::{ElicitationFeatures, WireFeatures, method as m},
};

pub(super) const RULES: Rules = Rules {
    revision: Revision::V2025_11_25,
    features: WireFeatures {
        icons: true,
        implementation_details: true,
        elicitation: ElicitationFeatures {
            form: true,
            url: true,
            url_id: true,
            multi_select: true,
            titled_enums: true,
            defaults: true,
        },
        sampling_tools: true,
        core_tasks: true,
        extensions: true,
        ..v2025_06_18::RULES.features
    },
    url_elicitation_error: Some(code::URL_ELICITATION_REQUIRED),
    invalid_tool_input_is_result: true,
    http: HttpMode::Streamable { polling: true },
    client_methods: &[v2024_11_05::CLIENT_METHODS, TASKS],
    server_methods: &[
        v2024_11_05::SERVER_METHODS,
        &[m::ELICITATION_CREATE, m::ELICITATION_COMPLETE],
        TASKS,
    ],
    ..v2025_06_18::RULES
};

/// The task methods. Either side may run the other's requests as tasks.
const TASKS: &[&str] = &[
    m::TASKS_GET,
    m::TASKS_RESULT,
    m::TASKS_LIST,
    m::TASKS_CANCEL,
    m::TASKS_STATUS,
];

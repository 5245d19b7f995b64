//! What is known of methods fits the types and the revisions.

use bowline_proto::{
    model::{self, Notification, Request, RequestClass, Side, method},
    revision::Revision,
};

fn allowed_somewhere(method: &str, sender: Side) -> bool {
    Revision::ALL
        .iter()
        .any(|revision| revision.rules().allows(method, sender))
}

macro_rules! methods {
    ($trait:ident: $($params:ident),* $(,)?) => {
        [$( <model::$params as $trait>::METHOD ),*]
    };
}

#[test]
fn a_clients_requests_are_all_known() {
    for name in methods![Request:
        CallToolParams, CancelCoreTaskParams, CancelTaskParams, CompleteParams,
        CoreTaskResultParams, DiscoverParams, GetCoreTaskParams, GetPromptParams, GetTaskParams,
        InitializeParams, ListCoreTasksParams, ListPromptsParams, ListResourceTemplatesParams,
        ListResourcesParams, ListToolsParams, PingParams, ReadResourceParams, SetLevelParams,
        SubscribeParams, SubscriptionsListenParams, UnsubscribeParams, UpdateTaskParams,
    ] {
        assert!(method::info(name).is_some(), "{name}");
        assert!(allowed_somewhere(name, Side::Client), "{name}");
    }
}

#[test]
fn a_servers_requests_are_not_the_clients() {
    for name in methods![Request: CreateMessageParams, ElicitParams, ListRootsParams] {
        assert!(method::info(name).is_none(), "{name}");
        assert!(allowed_somewhere(name, Side::Server), "{name}");
        assert!(!allowed_somewhere(name, Side::Client), "{name}");
    }
}

#[test]
fn notifications_belong_to_a_side() {
    for name in methods![Notification: InitializedParams, RootsListChangedParams] {
        assert!(allowed_somewhere(name, Side::Client), "{name}");
        assert!(!allowed_somewhere(name, Side::Server), "{name}");
    }
    for name in methods![Notification:
        ElicitationCompleteParams, LoggingMessageParams, PromptListChangedParams,
        ResourceListChangedParams, ResourceUpdatedParams, SubscriptionsAcknowledgedParams,
        TaskChangedParams, ToolListChangedParams,
    ] {
        assert!(allowed_somewhere(name, Side::Server), "{name}");
        assert!(!allowed_somewhere(name, Side::Client), "{name}");
    }
    for name in methods![Notification: CancelledParams, CoreTaskStatusParams, ProgressParams] {
        assert!(allowed_somewhere(name, Side::Client), "{name}");
        assert!(allowed_somewhere(name, Side::Server), "{name}");
    }
}

#[test]
fn three_methods_ask_for_input() {
    let asks = |name: &str| method::info(name).is_some_and(|info| info.input_rounds);
    for name in [
        method::TOOLS_CALL,
        method::PROMPTS_GET,
        method::RESOURCES_READ,
    ] {
        assert!(asks(name), "{name}");
    }
    assert!(!asks(method::TOOLS_LIST) && !asks(method::COMPLETION_COMPLETE));
    assert_eq!(method::class("vendor/method"), RequestClass::Other);
}

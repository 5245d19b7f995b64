//! Who hears of changes: sessions that subscribed, streams that asked.

use bowline_proto::server::{Connection, ConnectionStats, Event, ListKind};
use serde_json::{Value, json};

use super::rig::{Rig, initialize};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(rig: &mut Rig, id: impl Into<Value>, filter: Value) {
    let mut params = json!({});
    params["notifications"] = filter;
    rig.ask_stateless(id, "subscriptions/listen", params);
}

fn everything() -> Value {
    json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["file:///a", "file:///b"],
    })
}

#[test]
fn a_session_hears_of_lists_that_are_declared_to_change() {
    let mut rig = Rig::session();
    for kind in [ListKind::Tools, ListKind::Prompts, ListKind::Resources] {
        assert!(rig.act(|it, _| it.list_changed(kind)));
    }
    let expected = [
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
    ];
    assert_eq!(rig.methods_sent(), expected);
    assert!(rig.sent.iter().all(|frame| frame.get("params").is_none()));
}

#[test]
fn undeclared_changes_are_not_told() {
    let mut rig = Rig::with(|config| {
        config.capabilities = serde_json::from_str(r#"{"tools":{}}"#).unwrap();
    });
    rig = rig.opened("2025-11-25", &json!({}));
    listen(&mut rig, 1, everything());
    assert_eq!(
        rig.last()["params"]["notifications"],
        json!({}),
        "nothing is honoured"
    );
    rig.forget();
    for kind in [ListKind::Tools, ListKind::Prompts, ListKind::Resources] {
        assert!(!rig.act(|it, _| it.list_changed(kind)));
    }
    assert!(!rig.act(|it, _| it.resource_updated("file:///a")));
    assert!(rig.sent.is_empty());
    assert_eq!(rig.observed("notification.dropped"), 4);
}

#[test]
fn before_initialized_there_are_no_changes() {
    let mut rig = Rig::new();
    rig.ask(1, "initialize", initialize("2025-11-25", &json!({})));
    assert!(!rig.act(|it, _| it.list_changed(ListKind::Tools)));
    rig.notify("notifications/initialized", json!({}));
    assert!(rig.act(|it, _| it.list_changed(ListKind::Tools)));
}

#[test]
fn a_subscription_holds_once_the_host_grants_it() {
    let mut rig = Rig::session();
    let request = rig.request(1, "resources/subscribe", json!({"uri": "file:///a"}));
    assert!(
        !rig.act(|it, _| it.resource_updated("file:///a")),
        "not yet"
    );
    rig.respond(request, &json!({}));
    assert!(rig.events.iter().any(|event| matches!(
        event,
        Event::SubscriptionChanged {
            is_subscribed: true,
            ..
        }
    )));
    assert!(rig.act(|it, _| it.resource_updated("file:///a")));
    assert_eq!(rig.last()["params"], json!({"uri": "file:///a"}));
    assert!(
        !rig.act(|it, _| it.resource_updated("file:///a/b")),
        "exactly this one"
    );
    assert_eq!(
        rig.connection
            .subscribed_uris()
            .into_iter()
            .collect::<Vec<_>>(),
        ["file:///a"]
    );

    let request = rig.request(2, "resources/unsubscribe", json!({"uri": "file:///a"}));
    assert!(rig.act(|it, _| it.resource_updated("file:///a")), "still");
    rig.respond(request, &json!({}));
    assert!(!rig.act(|it, _| it.resource_updated("file:///a")));
    assert_eq!(rig.connection.stats(), ConnectionStats::default());
}

#[test]
fn a_subscription_that_is_refused_or_cancelled_does_not_hold() {
    let mut rig = Rig::session();
    let refused = rig.request(1, "resources/subscribe", json!({"uri": "file:///a"}));
    rig.respond_error(refused, -32002);
    let cancelled = rig.request(2, "resources/subscribe", json!({"uri": "file:///b"}));
    rig.notify("notifications/cancelled", json!({"requestId": 2}));
    rig.respond(cancelled, &json!({}));
    rig.ask(3, "resources/subscribe", json!({"url": "file:///c"}));
    assert_eq!(rig.refused(3), -32602);
    assert!(rig.connection.subscribed_uris().is_empty());
}

#[test]
fn subscriptions_are_bounded() {
    let mut rig = Rig::with(|config| config.max_subscriptions = 1);
    rig = rig.opened("2025-11-25", &json!({}));
    let request = rig.request(1, "resources/subscribe", json!({"uri": "file:///a"}));
    rig.respond(request, &json!({}));
    rig.ask(2, "resources/subscribe", json!({"uri": "file:///b"}));
    assert_eq!(rig.refused(2), -32603);
    listen(&mut rig, 3, everything());
    assert_eq!(rig.refused(3), -32603);
}

#[test]
fn so_are_the_names_of_what_is_watched() {
    let mut rig = Rig::session();
    let uri = |name: char| format!("file:///{}", name.to_string().repeat(400_000));
    for (id, name) in [(1, 'a'), (2, 'b')] {
        let request = rig.request(id, "resources/subscribe", json!({"uri": uri(name)}));
        rig.respond(request, &json!({}));
    }
    rig.ask(3, "resources/subscribe", json!({"uri": uri('c')}));
    assert_eq!(rig.refused(3), -32603);
    let all = ['a', 'b', 'c'].map(uri);
    listen(&mut rig, 4, json!({"resourceSubscriptions": all}));
    assert_eq!(rig.refused(4), -32603);
    listen(&mut rig, 5, json!({"resourceSubscriptions": all[..2]}));
    assert_eq!(rig.connection.stats().subscription_streams, 1);
}

#[test]
fn a_stream_is_acknowledged_first_with_what_it_will_bring() {
    let mut rig = Rig::with(|config| config.capabilities.prompts = None);
    listen(&mut rig, "s", everything());
    assert_eq!(
        rig.methods_sent(),
        ["notifications/subscriptions/acknowledged"]
    );
    let expected = json!({
        "toolsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["file:///a", "file:///b"],
    });
    assert_eq!(rig.last()["params"]["notifications"], expected);
    assert_eq!(rig.last()["params"]["_meta"], json!({ID: "s"}));
    assert!(rig.requests().is_empty(), "nobody was asked");
    assert_eq!(rig.connection.subscribed_uris().len(), 2);
}

#[test]
fn a_stream_brings_what_it_asked_for_under_its_own_id() {
    for id in [json!(5), json!("5")] {
        let mut rig = Rig::new();
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]});
        listen(&mut rig, id.clone(), filter);
        rig.forget();
        assert!(rig.act(|it, _| it.list_changed(ListKind::Tools)));
        assert_eq!(rig.last()["params"]["_meta"][ID], id, "with its type");
        assert!(!rig.act(|it, _| it.list_changed(ListKind::Prompts)));
        assert!(rig.act(|it, _| it.resource_updated("file:///a")));
        assert_eq!(
            rig.last()["params"],
            json!({"uri": "file:///a", "_meta": {ID: id}})
        );
        assert!(!rig.act(|it, _| it.resource_updated("file:///b")));
        assert_eq!(rig.sent.len(), 2);
    }
}

#[test]
fn streams_and_sessions_are_told_side_by_side() {
    let mut rig = Rig::session();
    listen(&mut rig, 1, json!({"toolsListChanged": true}));
    listen(&mut rig, 2, json!({"toolsListChanged": true}));
    listen(&mut rig, 3, json!({"promptsListChanged": true}));
    rig.forget();
    assert!(rig.act(|it, _| it.list_changed(ListKind::Tools)));
    let ids: Vec<_> = rig
        .sent
        .iter()
        .map(|it| it["params"]["_meta"][ID].clone())
        .collect();
    assert_eq!(ids, [json!(null), json!(1), json!(2)]);
}

#[test]
fn a_stream_that_the_client_ends_is_gone_silently() {
    let mut rig = Rig::new();
    listen(&mut rig, 1, everything());
    rig.forget();
    rig.notify("notifications/cancelled", json!({"requestId": 1}));
    assert!(!rig.act(|it, _| it.list_changed(ListKind::Tools)));
    assert!(rig.sent.is_empty() && rig.cancelled().is_empty());
    assert_eq!(rig.connection.stats(), ConnectionStats::default());
    assert_eq!(rig.observed("listen.stop"), 1);
}

#[test]
fn a_stream_that_we_end_has_a_result_and_then_a_notice() {
    let mut rig = Rig::new();
    listen(&mut rig, "s", everything());
    rig.forget();
    rig.act(Connection::close_subscription_streams);
    assert_eq!(rig.sent.len(), 2);
    let result = &rig.sent[0]["result"];
    assert_eq!(rig.sent[0]["id"], "s");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"][ID], "s");
    assert_eq!(rig.sent[1]["method"], "notifications/cancelled");
    assert_eq!(rig.sent[1]["params"]["requestId"], "s");
    assert_eq!(rig.connection.stats(), ConnectionStats::default());
}

#[test]
fn the_id_of_a_stream_is_in_use() {
    let mut rig = Rig::new();
    listen(&mut rig, 1, json!({}));
    listen(&mut rig, 1, json!({}));
    assert_eq!(rig.refused(json!(null)), -32600);
    rig.ask_stateless(1, "tools/list", json!({}));
    assert_eq!(rig.refused(json!(null)), -32600);
}

#[test]
fn streams_are_bounded_and_must_be_well_formed() {
    let mut rig = Rig::with(|config| config.max_subscription_streams = 1);
    rig.ask_stateless(1, "subscriptions/listen", json!({}));
    assert_eq!(rig.refused(1), -32602);
    listen(&mut rig, 2, json!({}));
    listen(&mut rig, 3, json!({}));
    assert_eq!(rig.refused(3), -32603);
}

#[test]
fn tasks_are_told_to_those_who_asked_for_them() {
    let mut rig = Rig::with(|config| {
        let extensions = r#"{"io.modelcontextprotocol/tasks":{}}"#;
        config.capabilities.extensions = Some(serde_json::from_str(extensions).unwrap());
    });
    let mut params = super::rig::with_meta(
        json!({"notifications": {"taskIds": ["t"]}}),
        super::rig::modern_meta(),
    );
    rig.ask(1, "subscriptions/listen", params.clone());
    assert_eq!(
        rig.last()["params"]["notifications"],
        json!({}),
        "undeclared by the client"
    );
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    rig.ask(2, "subscriptions/listen", params);
    assert_eq!(
        rig.last()["params"]["notifications"],
        json!({"taskIds": ["t"]})
    );
    let task = |id: &str| {
        let task = json!({"taskId": id, "status": "working", "createdAt": "x", "lastUpdatedAt": "x", "ttlMs": null});
        serde_json::from_value(task).unwrap()
    };
    assert!(rig.act(|it, _| it.task_changed(&task("t"))));
    assert_eq!(rig.last()["params"]["_meta"], json!({ID: 2}));
    assert!(!rig.act(|it, _| it.task_changed(&task("u"))));
}

#[test]
fn other_notices_go_out_if_the_revision_has_them() {
    let done = || {
        bowline_proto::jsonrpc::OutgoingMessage::new(
            "notifications/elicitation/complete",
            &json!({"elicitationId": "e"}),
        )
        .unwrap()
    };
    let mut rig = Rig::session();
    assert!(rig.act(|it, _| it.notify(done())));
    let mut rig = Rig::session_in("2025-06-18");
    assert!(!rig.act(|it, _| it.notify(done())));
    let gated = bowline_proto::jsonrpc::OutgoingMessage::without_params("notifications/message");
    assert!(
        !rig.act(|it, _| it.notify(gated)),
        "there is a method for that"
    );
}

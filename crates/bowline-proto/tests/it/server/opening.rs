//! Which era a request belongs to, and how a client learns who we are.

use bowline_proto::{
    revision::{Revision, handshake_revisions, stateless_revisions},
    server::{Config, Event, Violation},
};
use serde_json::{Value, json};

use super::rig::{Rig, client_capabilities, initialize, modern_meta, with_meta};

fn handshake_only(config: &mut Config) {
    config.revisions = handshake_revisions().collect();
}

fn stateless_only(config: &mut Config) {
    config.revisions = stateless_revisions().collect();
}

#[test]
fn every_handshake_revision_is_granted_as_asked() {
    for revision in handshake_revisions() {
        let mut rig = Rig::new();
        rig.ask(1, "initialize", initialize(revision.as_str(), &json!({})));
        let result = rig.result(1);
        assert_eq!(result["protocolVersion"], revision.as_str());
        assert_eq!(result["serverInfo"]["name"], "rig");
        let declares = !result["capabilities"]["completions"].is_null();
        assert_eq!(declares, revision.rules().features.completions_capability);
        assert!(result.get("resultType").is_none(), "of the other era");
        assert!(
            matches!(rig.events[0], Event::SessionOpened { revision: opened } if opened == revision)
        );
    }
}

#[test]
fn unknown_and_stateless_versions_get_the_newest_handshake() {
    for asked in ["1.0", "2026-07-28", "2099-01-01"] {
        let mut rig = Rig::new();
        rig.ask(1, "initialize", initialize(asked, &json!({})));
        let newest = Revision::LATEST_HANDSHAKE.as_str();
        assert_eq!(rig.result(1)["protocolVersion"], newest, "{asked}");
    }
}

#[test]
fn instructions_are_given_in_both_eras() {
    let mut rig = Rig::with(|config| config.instructions = Some("Be kind.".to_owned()));
    rig.ask(1, "initialize", initialize("2025-06-18", &json!({})));
    assert_eq!(rig.result(1)["instructions"], "Be kind.");
    rig.ask_stateless(2, "server/discover", json!({}));
    assert_eq!(rig.result(2)["instructions"], "Be kind.");
}

#[test]
fn a_second_initialize_is_refused_and_changes_nothing() {
    let mut rig = Rig::session_in("2025-06-18");
    rig.ask(2, "initialize", initialize("2025-11-25", &json!({})));
    assert_eq!(rig.refused(2), -32600);
    assert!(rig.saw(Violation::SecondInitialize));
    let (revision, client) = rig.connection.session().unwrap();
    assert_eq!(revision.as_str(), "2025-06-18");
    assert!(client.capabilities.has("sampling"));
}

#[test]
fn a_failed_initialize_may_be_tried_again() {
    let mut rig = Rig::new();
    rig.ask(1, "initialize", json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(rig.refused(1), -32602);
    rig.ask(2, "initialize", initialize("2025-06-18", &json!({})));
    assert_eq!(rig.result(2)["protocolVersion"], "2025-06-18");
}

#[test]
fn before_initialize_only_ping_is_answered() {
    let mut rig = Rig::new();
    rig.ask(1, "ping", json!({}));
    assert_eq!(rig.result(1), &json!({}));
    rig.ask(2, "tools/list", json!({}));
    assert_eq!(rig.refused(2), -32600);
    assert!(
        rig.last()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("initialize first")
    );
    assert!(rig.saw(Violation::NoSession));
    assert!(rig.requests().is_empty());
}

#[test]
fn requests_between_initialize_and_initialized_are_taken() {
    let mut rig = Rig::new();
    rig.ask(1, "initialize", initialize("2025-11-25", &json!({})));
    rig.request(2, "tools/list", json!({}));
}

#[test]
fn initialized_is_reported_once() {
    let mut rig = Rig::new();
    rig.notify("notifications/initialized", json!({}));
    assert!(
        rig.saw(Violation::InvalidNotification),
        "there is no session yet"
    );
    rig.ask(1, "initialize", initialize("2025-11-25", &json!({})));
    rig.notify("notifications/initialized", json!({}));
    rig.notify("notifications/initialized", json!({}));
    let reported = rig
        .events
        .iter()
        .filter(|it| matches!(it, Event::Initialized));
    assert_eq!(reported.count(), 1);
}

#[test]
fn both_eras_share_a_link() {
    let mut rig = Rig::session_in("2024-11-05");
    rig.request(1, "tools/list", json!({}));
    assert_eq!(rig.context().revision().as_str(), "2024-11-05");
    rig.request_stateless(2, json!({"name": "x"}));
    assert_eq!(rig.context().revision().as_str(), "2026-07-28");
    rig.request(3, "tools/list", json!({}));
    assert_eq!(rig.context().revision().as_str(), "2024-11-05");
}

#[test]
fn discovery_says_everything() {
    let mut rig =
        Rig::with(|config| config.discover_cache.ttl = std::time::Duration::from_secs(60));
    rig.ask_stateless("d", "server/discover", json!({}));
    let result = rig.result("d");
    assert_eq!(result["resultType"], "complete");
    let versions = [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05",
    ];
    assert_eq!(result["supportedVersions"], json!(versions));
    assert_eq!(
        result["capabilities"]["tools"],
        json!({"listChanged": true})
    );
    assert_eq!(result["ttlMs"], 60_000);
    assert_eq!(result["cacheScope"], "private");
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info, &json!({"name": "rig", "version": "1.0.0"}));
    assert!(rig.requests().is_empty(), "nobody was asked");
}

#[test]
fn a_stateless_server_names_its_versions_to_initialize() {
    let mut rig = Rig::with(stateless_only);
    rig.ask(1, "initialize", initialize("2025-11-25", &json!({})));
    assert_eq!(rig.refused(1), -32022);
    let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
    assert_eq!(rig.last()["error"]["data"], data);
}

#[test]
fn a_stateless_server_says_what_a_bare_request_lacks() {
    let mut rig = Rig::with(stateless_only);
    for method in ["tools/list", "ping", "server/discover"] {
        rig.ask(1, method, json!({}));
        assert_eq!(rig.refused(1), -32602, "{method}");
    }
    rig.frame(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    assert_eq!(rig.refused(2), -32602, "no params at all");
}

#[test]
fn discovery_without_meta_is_told_what_it_lacks() {
    let mut rig = Rig::new();
    rig.ask(1, "server/discover", json!({}));
    assert_eq!(rig.refused(1), -32602);
    let mut rig = Rig::session();
    rig.ask(1, "server/discover", json!({}));
    assert_eq!(
        rig.refused(1),
        -32601,
        "the session's revision has no such method"
    );
}

#[test]
fn a_handshake_server_has_no_stateless_methods() {
    let mut rig = Rig::with(handshake_only);
    for method in ["server/discover", "tools/list", "initialize"] {
        rig.ask_stateless(1, method, initialize("2025-11-25", &json!({})));
        assert_eq!(rig.refused(1), -32601, "{method}");
    }
    rig.ask(2, "server/discover", json!({}));
    assert_eq!(rig.refused(2), -32600);
}

#[test]
fn a_handshake_server_ignores_foreign_meta_once_it_knows_its_client() {
    let mut rig = Rig::with(handshake_only).opened("2025-11-25", &client_capabilities());
    rig.ask_stateless(1, "tools/list", json!({}));
    assert_eq!(rig.requests().len(), 1);
    assert_eq!(rig.context().revision().as_str(), "2025-11-25");
}

#[test]
fn methods_of_the_handshake_era_are_gone_in_the_other() {
    let gone = [
        ("initialize", initialize("2026-07-28", &json!({}))),
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "debug"})),
        ("resources/subscribe", json!({"uri": "file:///x"})),
        ("resources/unsubscribe", json!({"uri": "file:///x"})),
    ];
    for mut rig in [Rig::new(), Rig::session()] {
        for (method, params) in gone.clone() {
            rig.ask_stateless(1, method, params);
            assert_eq!(rig.refused(1), -32601, "{method}");
        }
    }
}

#[test]
fn stateless_requests_must_bring_what_they_must() {
    let key = "io.modelcontextprotocol/protocolVersion";
    let meta = modern_meta();
    for missing in [key, "io.modelcontextprotocol/clientCapabilities"] {
        let mut rig = Rig::new();
        let mut less = meta.clone();
        less.as_object_mut().unwrap().remove(missing);
        rig.ask(1, "tools/list", json!({"_meta": less}));
        assert_eq!(rig.refused(1), -32602, "{missing}");
        let message = rig.last()["error"]["message"].as_str().unwrap();
        assert!(message.contains(missing), "{message}");
    }
}

#[test]
fn unsupported_versions_are_answered_with_the_supported() {
    for version in ["2099-01-01", "2025-11-25"] {
        let mut rig = Rig::new();
        let mut params = json!({"_meta": modern_meta()});
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = Value::from(version);
        rig.ask(1, "tools/list", params);
        assert_eq!(rig.refused(1), -32022, "{version}");
        let data = &rig.last()["error"]["data"];
        assert_eq!(data["requested"], version);
        assert_eq!(
            data["supported"].as_array().unwrap().len(),
            Revision::ALL.len()
        );
    }
}

#[test]
fn client_info_is_welcome_but_not_demanded() {
    let mut rig = Rig::new();
    rig.request_stateless(1, json!({"name": "x"}));
    assert_eq!(rig.context().client.info.as_ref().unwrap().name, "tester");
    let mut params = with_meta(json!({}), modern_meta());
    let meta = params["_meta"].as_object_mut().unwrap();
    meta.remove("io.modelcontextprotocol/clientInfo");
    rig.request(2, "tools/list", params);
    assert_eq!(rig.context().client.info, None);
}

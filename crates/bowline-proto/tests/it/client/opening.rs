//! Finding the era and agreeing on a revision, over a stream.

use bowline_proto::{
    client::{Config, ConnectionErrorKind, ConnectionState},
    model::{ClientCapabilities, ElicitationCapability, Extra, Implementation, SamplingCapability},
    revision::{Era, Revision},
};
use serde_json::{Value, json};

use super::rig::{Rig, discovery, server_capabilities};

/// A connection that has asked for the era.
fn probing() -> Rig {
    probing_with(|_| {})
}

fn probing_with(adjust: impl FnOnce(&mut Config)) -> Rig {
    let mut rig = Rig::with(adjust).started();
    rig.up();
    assert_eq!(rig.methods_sent(), ["server/discover"]);
    rig
}

/// A connection whose probe was not answered in time.
fn behind_the_probe() -> (Rig, u64) {
    let mut rig = probing();
    let probe = rig.last_request();
    rig.pass_ms(3_000);
    assert_eq!(rig.methods_sent(), ["server/discover", "initialize"]);
    (rig, probe)
}

fn speak(revisions: &[Revision]) -> impl FnOnce(&mut Config) {
    let revisions = revisions.to_vec();
    move |config| config.revisions = revisions
}

fn accepted(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": server_capabilities(),
        "serverInfo": {"name": "fake", "version": "1"},
    })
}

fn unsupported(supported: Value) -> Value {
    let data = [("supported", supported), ("requested", "2026-07-28".into())];
    json!({"code": -32022, "message": "no", "data": Value::from_iter(data)})
}

fn refuse_with(rig: &mut Rig, error: Value) {
    let (version, id) = (Value::from("2.0"), rig.last_request().into());
    let answer = [("jsonrpc", version), ("id", id), ("error", error)];
    rig.frame(&Value::from_iter(answer));
}

#[track_caller]
fn assert_asked_to_initialize(rig: &Rig) {
    assert_eq!(rig.state(), ConnectionState::Opening);
    assert_eq!(rig.last_sent().method(), "initialize");
    assert_eq!(rig.last_sent().link, rig.current());
    assert_eq!(rig.dials.len(), 1, "on the same link");
}

#[track_caller]
fn assert_no_common_version(rig: &Rig, offered: &[&str]) {
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert_eq!(rig.hangups, [rig.current()]);
    let offered = offered.iter().map(ToString::to_string).collect();
    assert_eq!(
        *rig.fell().0,
        ConnectionErrorKind::UnsupportedVersion { offered }
    );
    assert!(rig.sent_as("initialize").is_empty());
}

#[test]
fn the_probe_says_who_we_are_and_what_we_can_do() {
    let rig = probing_with(|config| {
        config.capabilities.sampling = Some(SamplingCapability::default());
    });
    let meta = &rig.last_sent().json["params"]["_meta"];
    let key = |name: &str| &meta[format!("io.modelcontextprotocol/{name}")];
    assert_eq!(*key("protocolVersion"), "2026-07-28");
    assert_eq!(
        *key("clientInfo"),
        json!({"name": "rig", "version": "0.0.0"})
    );
    assert_eq!(*key("clientCapabilities"), json!({"sampling": {}}));
}

#[test]
fn a_discovery_opens_a_stateless_session_without_further_messages() {
    let mut rig = probing();
    let mut result = discovery();
    result["_meta"] = json!({
        "io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "2"},
    });
    rig.answer(result);
    assert_eq!(rig.state(), ConnectionState::Ready);
    assert_eq!(rig.methods_sent(), ["server/discover"]);
    let server = rig.connection.server_info().unwrap();
    assert_eq!(server.revision, Revision::V2026_07_28);
    assert_eq!(server.info.as_ref().unwrap().name, "modern");
}

#[test]
fn a_discovery_need_not_name_the_server() {
    let mut rig = probing();
    rig.answer(discovery());
    assert_eq!(rig.connection.server_info().unwrap().info, None);
}

#[test]
fn a_discovery_that_lists_our_revision_among_others_is_stateless() {
    let mut rig = probing();
    let mut result = discovery();
    result["supportedVersions"] = json!(["2024-11-05", "2026-07-28", "2031-01-01"]);
    rig.answer(result);
    assert_eq!(
        rig.connection.server_info().unwrap().revision,
        Revision::V2026_07_28
    );
}

#[test]
fn a_discovery_that_lists_only_handshake_revisions_leads_to_the_handshake() {
    let mut rig = probing();
    let mut result = discovery();
    result["supportedVersions"] = json!(["2025-06-18"]);
    rig.answer(result);
    assert_asked_to_initialize(&rig);
}

#[test]
fn a_discovery_with_nothing_in_common_is_a_failure() {
    let mut rig = probing();
    let mut result = discovery();
    result["supportedVersions"] = json!(["2031-01-01"]);
    rig.answer(result);
    assert_no_common_version(&rig, &["2031-01-01"]);
}

#[test]
fn an_unsupported_version_with_our_own_in_the_list_is_asked_once_more() {
    let mut rig = probing();
    refuse_with(&mut rig, unsupported(json!(["2026-07-28", "2025-11-25"])));
    assert_eq!(rig.methods_sent(), ["server/discover", "server/discover"]);
    rig.answer(discovery());
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn a_server_that_insists_on_not_supporting_what_it_lists_is_taken_at_its_other_word() {
    let mut rig = probing();
    refuse_with(&mut rig, unsupported(json!(["2026-07-28", "2025-11-25"])));
    refuse_with(&mut rig, unsupported(json!(["2026-07-28", "2025-11-25"])));
    assert_asked_to_initialize(&rig);

    let mut rig = probing();
    refuse_with(&mut rig, unsupported(json!(["2026-07-28"])));
    refuse_with(&mut rig, unsupported(json!(["2026-07-28"])));
    assert_no_common_version(&rig, &["2026-07-28"]);
}

#[test]
fn an_unsupported_version_with_only_handshake_revisions_leads_to_the_handshake() {
    let mut rig = probing();
    refuse_with(&mut rig, unsupported(json!(["2024-11-05", "2025-11-25"])));
    assert_asked_to_initialize(&rig);
}

#[test]
fn an_unsupported_version_with_nothing_in_common_is_a_failure() {
    let mut rig = probing();
    refuse_with(&mut rig, unsupported(json!(["2031-01-01"])));
    assert_no_common_version(&rig, &["2031-01-01"]);
}

#[test]
fn an_unsupported_version_without_a_list_is_a_failure() {
    for data in [Value::Null, json!({}), json!("2025-11-25")] {
        let mut rig = probing();
        refuse_with(
            &mut rig,
            json!({"code": -32022, "message": "no", "data": data}),
        );
        assert_no_common_version(&rig, &[]);
    }
}

#[test]
fn any_other_error_leads_to_the_handshake_whatever_its_code() {
    for code in [
        -32601, -32602, -32600, -32700, -32603, -32000, -32002, 0, 1, 404,
    ] {
        let mut rig = probing();
        rig.answer_error(code, "no");
        assert_asked_to_initialize(&rig);
    }
}

#[test]
fn an_error_that_only_the_stateless_era_has_is_a_failure() {
    for code in [-32020, -32021] {
        let mut rig = probing();
        rig.answer_error(code, "no");
        assert_eq!(rig.state(), ConnectionState::Backoff);
        assert!(matches!(rig.fell().0, ConnectionErrorKind::Refused(error) if error.code == code));
        assert!(rig.sent_as("initialize").is_empty());
    }
}

#[test]
fn an_error_without_an_id_is_the_answer_to_the_probe() {
    let error = json!({"code": -32600, "message": "?"});
    for frame in [
        json!({"jsonrpc": "2.0", "error": error}),
        json!({"jsonrpc": "2.0", "id": null, "error": error}),
    ] {
        let mut rig = probing();
        rig.frame(&frame);
        assert_asked_to_initialize(&rig);
    }
}

#[test]
fn a_result_without_the_fields_of_a_discovery_leads_to_the_handshake() {
    let results = [
        json!({}),
        json!(null),
        json!("ok"),
        json!({"capabilities": {}}),
        json!({"supportedVersions": "2026-07-28", "capabilities": {}}),
    ];
    for result in results {
        let mut rig = probing();
        rig.answer(result);
        assert_asked_to_initialize(&rig);
    }
}

#[test]
fn an_answer_to_the_probe_that_cannot_be_read_leads_to_the_handshake() {
    let mut rig = probing();
    let id = rig.last_request();
    rig.bytes(format!(r#"{{"id":{id},"result":{{}}}}"#));
    assert_asked_to_initialize(&rig);
}

#[test]
fn a_probe_without_an_answer_is_followed_by_the_handshake_within_the_same_deadline() {
    let mut rig = probing();
    rig.pass_ms(2_999);
    assert_eq!(rig.methods_sent(), ["server/discover"]);
    rig.pass_ms(1);
    assert_asked_to_initialize(&rig);
    rig.pass_ms(6_999);
    assert_eq!(rig.state(), ConnectionState::Opening);
    rig.pass_ms(1);
    assert_eq!(rig.state(), ConnectionState::Backoff);
}

#[test]
fn a_discovery_that_comes_after_the_handshake_succeeded_is_ignored() {
    let (mut rig, probe) = behind_the_probe();
    rig.answer(accepted("2025-11-25"));
    rig.answer_to(probe, discovery());
    let server = rig.connection.server_info().unwrap();
    assert_eq!(server.revision, Revision::V2025_11_25);
    assert_eq!(rig.observed("response.late"), 1);
}

#[test]
fn a_discovery_that_comes_during_the_handshake_does_not_end_it() {
    let (mut rig, probe) = behind_the_probe();
    rig.answer_to(probe, discovery());
    assert_eq!(rig.state(), ConnectionState::Opening);
    rig.answer(accepted("2025-11-25"));
    let server = rig.connection.server_info().unwrap();
    assert_eq!(server.revision, Revision::V2025_11_25);
}

#[test]
fn a_discovery_that_came_late_counts_when_the_handshake_is_refused() {
    let (mut rig, probe) = behind_the_probe();
    rig.answer_to(probe, discovery());
    let initialize = rig.sent_as("initialize")[0].id.unwrap();
    let error = json!({"code": -32601, "message": "no such method"});
    rig.frame(&json!({"jsonrpc": "2.0", "id": initialize, "error": error}));
    assert_eq!(rig.state(), ConnectionState::Ready);
    let server = rig.connection.server_info().unwrap();
    assert_eq!(server.revision, Revision::V2026_07_28);
}

#[test]
fn a_late_error_to_the_probe_never_disturbs_the_handshake() {
    let error = json!({"code": -32601, "message": "no such method"});
    let (_, probe) = behind_the_probe();
    for frame in [
        json!({"jsonrpc": "2.0", "id": probe, "error": error}),
        json!({"jsonrpc": "2.0", "id": null, "error": error}),
        json!({"jsonrpc": "2.0", "error": error}),
        json!({"jsonrpc": "2.0", "id": probe, "result": {}}),
        json!({"id": probe, "result": {}}),
    ] {
        let (mut rig, _) = behind_the_probe();
        rig.frame(&frame);
        assert_eq!(rig.state(), ConnectionState::Opening, "{frame}");
        rig.answer(accepted("2025-11-25"));
        assert_eq!(rig.state(), ConnectionState::Ready, "{frame}");
    }
}

/// Two questions are open, and two errors cannot both mean the older one.
#[test]
fn after_the_probe_was_refused_late_an_error_without_an_id_means_the_handshake() {
    let error = json!({"code": -32601, "message": "no such method"});
    let (mut rig, probe) = behind_the_probe();
    rig.frame(&json!({"jsonrpc": "2.0", "id": probe, "error": error}));
    rig.frame(&json!({"jsonrpc": "2.0", "id": null, "error": error}));
    assert_eq!(rig.state(), ConnectionState::Backoff);
}

#[test]
fn a_server_that_dies_of_the_probe_is_dialled_again_at_once_and_spared_it() {
    let mut rig = probing();
    rig.down();
    assert_eq!(rig.fell().1, Some(std::time::Duration::ZERO));
    rig.redial();
    assert_eq!(*rig.attempts.last().unwrap(), 0, "it is no failed attempt");
    rig.sent.clear();
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"]);
}

#[test]
fn a_server_that_then_dies_of_the_handshake_too_is_asked_from_the_beginning() {
    let mut rig = probing();
    rig.down();
    rig.redial();
    rig.up();
    rig.down();
    rig.assert_first_backoff();
    rig.redial();
    rig.sent.clear();
    rig.up();
    assert_eq!(rig.methods_sent(), ["server/discover"]);
}

#[test]
fn a_server_known_to_be_stateless_that_dies_while_it_is_asked_is_merely_dead() {
    let mut rig = Rig::stateless();
    rig.down();
    rig.redial();
    rig.up();
    rig.down();
    let wait = rig.fell().1.unwrap();
    assert!(!wait.is_zero(), "no evidence of the other era");
}

#[test]
fn the_era_that_was_found_is_remembered_for_the_next_link() {
    let mut rig = Rig::ready();
    rig.down();
    rig.redial();
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"]);
}

#[test]
fn an_assumption_saves_the_probe() {
    let mut rig = Rig::with(|config| config.assumed_era = Some(Era::Handshake)).started();
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"]);
}

#[test]
fn a_wrong_assumption_is_forgotten() {
    let mut rig = Rig::with(|config| config.assumed_era = Some(Era::Handshake)).started();
    rig.up();
    rig.answer_error(-32601, "no such method");
    assert_eq!(rig.state(), ConnectionState::Backoff);
    rig.redial();
    rig.open_by_discovery();
}

#[test]
fn a_wrong_assumption_that_ends_in_silence_is_forgotten() {
    let mut rig = Rig::with(|config| config.assumed_era = Some(Era::Handshake)).started();
    rig.up();
    rig.pass_ms(10_000);
    rig.redial();
    rig.open_by_discovery();
}

#[test]
fn a_refused_handshake_that_names_our_stateless_revision_is_followed_by_the_probe() {
    let mut rig = Rig::with(|config| config.assumed_era = Some(Era::Handshake)).started();
    rig.up();
    refuse_with(&mut rig, unsupported(json!(["2026-07-28"])));
    assert_eq!(rig.methods_sent(), ["initialize", "server/discover"]);
    rig.answer(discovery());
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn a_server_that_refuses_each_question_by_naming_the_other_is_not_asked_for_ever() {
    let mut rig = probing();
    for _ in 0..10 {
        if rig.state() == ConnectionState::Opening {
            refuse_with(&mut rig, unsupported(json!(["2026-07-28", "2025-11-25"])));
        }
    }
    assert_eq!(rig.state(), ConnectionState::Backoff);
}

#[test]
fn a_single_allowed_revision_is_the_only_one_offered_and_accepted() {
    let only = speak(&[Revision::V2024_11_05]);
    let mut rig = Rig::with(only).started();
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"], "no probe");
    let offered = &rig.last_sent().json["params"]["protocolVersion"];
    assert_eq!(*offered, "2024-11-05");
    rig.answer(accepted("2025-11-25"));
    assert_eq!(rig.state(), ConnectionState::Backoff);
    let offered = vec!["2025-11-25".to_owned()];
    assert_eq!(
        *rig.fell().0,
        ConnectionErrorKind::UnsupportedVersion { offered }
    );
}

#[test]
fn a_connection_that_speaks_only_the_stateless_era_never_shakes_hands() {
    let only = || speak(&[Revision::V2026_07_28]);
    let mut rig = probing_with(only());
    rig.answer_error(-32601, "no such method");
    assert_no_common_version(&rig, &[]);

    let mut rig = probing_with(only());
    rig.pass_ms(9_999);
    assert_eq!(rig.methods_sent(), ["server/discover"]);
    rig.pass_ms(1);
    assert!(matches!(
        rig.fell().0,
        ConnectionErrorKind::OpeningTimeout(_)
    ));

    let mut rig = probing_with(only());
    rig.down();
    rig.assert_first_backoff();
}

#[test]
fn the_handshake_offers_the_newest_of_its_own_revisions_and_never_a_stateless_one() {
    let mut rig = probing();
    rig.answer_error(-32601, "no such method");
    let offered = &rig.last_sent().json["params"]["protocolVersion"];
    assert_eq!(*offered, "2025-11-25");
}

#[test]
fn a_handshake_answered_with_a_stateless_revision_is_not_accepted() {
    let mut rig = probing();
    rig.answer_error(-32601, "no such method");
    rig.answer(accepted("2026-07-28"));
    assert_eq!(rig.state(), ConnectionState::Backoff);
}

#[test]
fn every_older_handshake_revision_is_accepted() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut rig = probing();
        rig.answer_error(-32601, "no such method");
        rig.answer(accepted(version));
        assert_eq!(
            rig.connection.server_info().unwrap().revision.as_str(),
            version
        );
    }
}

#[test]
fn what_we_say_of_ourselves_fits_the_revision_that_is_offered() {
    let everything = |config: &mut Config| {
        let mut sampling = SamplingCapability::default();
        sampling.tools = Some(Extra::new());
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = Some(Extra::new());
        elicitation.url = Some(Extra::new());
        let mut all = ClientCapabilities::default();
        all.sampling = Some(sampling);
        all.elicitation = Some(elicitation);
        config.capabilities = all;
        let mut identity = Implementation::new("rig", "0");
        identity.title = Some("The Rig".to_owned());
        config.client_info = identity;
    };
    let plain = json!({"name": "rig", "version": "0"});
    let titled = json!({"name": "rig", "version": "0", "title": "The Rig"});
    let forms = json!({"sampling": {}, "elicitation": {}});
    let all = json!({"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}});
    let cases = [
        (Revision::V2025_03_26, json!({"sampling": {}}), plain),
        (Revision::V2025_06_18, forms, titled.clone()),
        (Revision::V2025_11_25, all, titled),
    ];
    for (revision, capabilities, identity) in cases {
        let mut rig = Rig::with(|config| {
            everything(config);
            config.revisions = vec![revision];
        })
        .started();
        rig.up();
        let params = &rig.last_sent().json["params"];
        assert_eq!(params["capabilities"], capabilities, "{revision}");
        assert_eq!(params["clientInfo"], identity, "{revision}");
    }
}

#[test]
fn probe_handshake_and_calls_take_their_ids_from_one_counter() {
    let mut rig = Rig::dialling();
    rig.open_by_handshake("2025-11-25");
    rig.call("tools/list");
    let ids: Vec<_> = rig.sent.iter().filter_map(|sent| sent.id).collect();
    assert_eq!(ids, [1, 2, 3]);
}

//! Stateless requests without a connection, as over HTTP.

use bowline_proto::{
    jsonrpc::{ErrorObject, scan, split_batch},
    revision::handshake_revisions,
    server::{
        Config,
        stateless::{self, Rejection},
    },
};
use serde_json::{Value, json};

use super::rig::{capabilities, modern_meta};

fn config() -> Config {
    let mut config = Config::new("rig", "1.0.0");
    config.capabilities = serde_json::from_value(capabilities()).expect("capabilities");
    config
}

#[track_caller]
fn check(config: &Config, method: &str, params: &Value, expected: Result<(), (i64, u16)>) {
    let params = params.to_string();
    let admitted = stateless::admit(config, method, Some(params.as_bytes()));
    let outcome = admitted.map(drop).map_err(|it| (it.error.code, it.status));
    assert_eq!(outcome, expected, "{method} {params}");
}

#[test]
fn each_fault_has_its_code_and_status() {
    let with = |key: &str, value: Value| {
        let mut params = json!({"_meta": modern_meta()});
        params["_meta"][format!("io.modelcontextprotocol/{key}")] = value;
        params
    };
    let fine = json!({"_meta": modern_meta()});
    let config = config();
    check(&config, "tools/list", &fine, Ok(()));
    check(&config, "server/discover", &fine, Ok(()));
    check(&config, "subscriptions/listen", &fine, Ok(()));
    check(&config, "tools/list", &json!({}), Err((-32602, 400)));
    check(
        &config,
        "tools/list",
        &json!({"_meta": {}}),
        Err((-32602, 400)),
    );
    let unknown = with("protocolVersion", json!("2099-01-01"));
    check(&config, "tools/list", &unknown, Err((-32022, 400)));
    for gone in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "nonsense",
    ] {
        check(&config, gone, &fine, Err((-32601, 404)));
    }
    check(&config, "tasks/get", &fine, Err((-32601, 404)));
    let bad = with("clientCapabilities", json!({"sampling": 7}));
    check(&config, "tools/list", &bad, Err((-32602, 200)));
    let bad = with("logLevel", json!("loud"));
    check(&config, "tools/list", &bad, Err((-32602, 200)));
    let bad = with("protocolVersion", json!(7));
    check(&config, "tools/list", &bad, Err((-32602, 200)));
}

#[test]
fn missing_members_are_missed_before_the_version_is_judged() {
    let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}});
    check(&config(), "tools/list", &params, Err((-32602, 400)));
}

#[test]
fn the_extension_must_be_declared_by_the_request() {
    let mut config = config();
    let extensions = r#"{"io.modelcontextprotocol/tasks":{}}"#;
    config.capabilities.extensions = Some(serde_json::from_str(extensions).unwrap());
    let params = json!({"_meta": modern_meta()});
    check(&config, "tasks/get", &params, Err((-32021, 400)));
}

#[test]
fn a_handshake_server_admits_nothing() {
    let mut config = config();
    config.revisions = handshake_revisions().collect();
    let params = json!({"_meta": modern_meta()});
    check(&config, "server/discover", &params, Err((-32601, 404)));
}

#[test]
fn frames_that_are_no_messages_are_bad_requests() {
    let status = |frame: &str| {
        let fault = scan(frame.as_bytes()).unwrap_err();
        let rejection = Rejection::from(&fault);
        (rejection.error.code, rejection.status)
    };
    assert_eq!(status("{"), (-32700, 400));
    assert_eq!(status("{}"), (-32600, 400));
    assert_eq!(status("7"), (-32600, 400));
    let empty = Rejection::from(&split_batch(b"[]").unwrap_err());
    assert_eq!((empty.error.code, empty.status), (-32600, 400));
}

#[test]
fn errors_of_the_host_are_mostly_in_band() {
    let status = |code| Rejection::from(ErrorObject::new(code, "x")).status;
    assert_eq!(status(-32602), 200);
    assert_eq!(status(-32603), 200);
    assert_eq!(status(-32021), 400);
    assert_eq!(status(-32601), 404);
}

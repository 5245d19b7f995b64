//! From an entry to a connection.

use std::time::Duration;

use bowline::{
    Client,
    proto::{
        client::{Backoff, Timeouts},
        model::Root,
        revision::Revision,
    },
};

use super::{loader, only, read_one};

#[test]
fn a_command_becomes_a_process() {
    let entry = r#"{"command": "npx", "args": ["-y", "x"], "env": {"K": "s3cret"}, "cwd": "/"}"#;
    let server = only(read_one(entry, &[]));
    let process = server.child_process().expect("it is started by a command");
    assert_eq!(
        format!("{process:?}"),
        r#"ChildProcess { command: "npx", args: ["-y", "x"], env: ["K"] }"#,
    );
}

#[test]
fn an_address_becomes_no_process() {
    let server = only(read_one(r#"{"url": "https://a.test"}"#, &[]));
    assert!(server.child_process().is_none());
}

/// Builders do not compare, but they show their settings.
#[test]
fn settings_reach_the_client() {
    let file = loader(&[]).parse(include_str!("samples/bowline.json"));
    let server = file.get("meditation-notes").expect("it is there");
    let mut timeouts = Timeouts::interactive();
    timeouts.connect = Duration::from_secs(30);
    timeouts.tool = Duration::from_secs(5);
    let waits = (Duration::from_millis(500), Duration::from_secs(60));
    let expected = Client::builder()
        .timeouts(timeouts)
        .backoff(Backoff::new(waits.0, waits.1, 0.2).expect("they make sense"))
        .max_frame_size(1024 * 1024)
        .revisions([Revision::V2024_11_05, Revision::V2025_06_18])
        .roots(["file:///srv/notes/drafts", "file:///srv/shared"].map(Root::new));
    let built = server.apply(Client::builder());
    assert_eq!(format!("{built:?}"), format!("{expected:?}"));
}

#[test]
fn what_is_not_said_is_left_as_it_is() {
    let server = only(read_one(r#"{"command": "x"}"#, &[]));
    let builder = || {
        Client::builder()
            .max_frame_size(7)
            .timeouts(Timeouts::interactive())
    };
    let built = server.apply(builder());
    assert_eq!(format!("{built:?}"), format!("{:?}", builder()));
}

/// Everything that can be said of a server, and what it comes to.
#[test]
fn an_entry_that_is_written_again_is_the_same_server() {
    let entries = [
        r#"{"command": "x"}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"A": "1"}, "inherit_env": true, "cwd": "/",
            "projects": ["one", "two"], "preset": "interactive",
            "timeouts": {"opening_ms": 1, "probe_ms": 2, "resource_ms": 3, "tool_ms": 4,
                "other_ms": 5, "input_ms": 6},
            "backoff": {"min_ms": 7, "max_ms": 8}, "max_frame": "1KiB",
            "revisions": ["2025-11-25", "2025-06-18"], "roots": ["drafts", "file:///a"]}"#,
        r#"{"command": "x", "preset": "standard", "roots": []}"#,
        r#"{"command": "x", "preset": "interactive"}"#,
        r#"{"url": "https://a.test/mcp"}"#,
        r#"{"url": "https://a.test/mcp", "type": "sse", "headers": {"X": "1"},
            "allowPlainHttp": true}"#,
        r#"{"httpUrl": "https://a.test/mcp", "max_frame": 1}"#,
    ];
    for entry in entries {
        let first = only(read_one(entry, &[]));
        let again = serde_json::Value::Object(first.to_entry()).to_string();
        let second = only(read_one(&again, &[]));
        assert_eq!(first.endpoint, second.endpoint, "{again}");
        assert_eq!(first.projects, second.projects, "{again}");
        assert_eq!(first.connection, second.connection, "{again}");
    }
}

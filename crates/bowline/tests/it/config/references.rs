//! References: what each stands for, and where.

use super::{only, read_one, remote, stdio};

const VARIABLES: &[(&str, &str)] = &[("A", "one"), ("EMPTY", ""), ("NESTED", "${A}")];

#[test]
fn each_reference_has_a_meaning() {
    let separator = std::path::MAIN_SEPARATOR_STR;
    let cases = [
        ("plain", "plain"),
        ("${A}", "one"),
        ("${env:A}", "one"),
        ("<${A}${A}>", "<oneone>"),
        ("${A:-two}", "one"),
        ("${B:-two}", "two"),
        ("${env:B:-two}", "two"),
        ("${EMPTY}", ""),
        ("${EMPTY:-two}", "two"),
        ("${B:-}", ""),
        ("${B:-http://x:1/${A}", "http://x:1/${A"),
        ("${NESTED}", "${A}"),
        ("${workspaceFolder}/x", "/srv/notes/x"),
        ("${workspaceFolderBasename}", "notes"),
        ("${userHome}/x", "/home/user/x"),
        ("${/}", separator),
        ("${pathSeparator}", separator),
        ("~/x", "/home/user/x"),
        ("x~/x", "x~/x"),
        ("$A $(A) $", "$A $(A) $"),
        ("é${A}é", "éoneé"),
    ];
    for (written, meant) in cases {
        let entry = serde_json::json!({"command": "it", "args": [written]});
        let server = only(read_one(&entry.to_string(), VARIABLES));
        assert_eq!(stdio(&server).args, [meant], "{written}");
    }
}

#[test]
fn references_are_resolved_wherever_they_may_stand() {
    let entry = r#"{
        "command": "~/${A}", "args": ["${A}"], "env": {"X": "${A}"}, "cwd": "${A}/below"
    }"#;
    let server = only(read_one(entry, VARIABLES));
    let server = stdio(&server);
    assert_eq!(server.command, "/home/user/one");
    assert_eq!(server.args, ["one"]);
    assert_eq!(server.env["X"], "one");
    assert_eq!(server.cwd.as_deref(), Some("/srv/notes/one/below".as_ref()));

    let entry = r#"{"url": "https://${A}.test", "headers": {"X": "${A}"}}"#;
    let server = only(read_one(entry, VARIABLES));
    assert_eq!(remote(&server).url, "https://one.test");
    assert_eq!(remote(&server).headers["X"], "one");
}

//! Which value a server's variable gets.

use super::{Variables, loader, only, read_one, stdio};

/// Each row has one place less that names the variable.
#[test]
fn the_most_particular_place_wins() {
    let rows: [(Variables<'_>, &str, &str); 5] = [
        (
            &[("MCP_IT_KEY", "1"), ("MCP_KEY", "2"), ("KEY", "3")],
            "${KEY}",
            "1",
        ),
        (&[("MCP_IT_KEY", "1"), ("KEY", "3")], "${KEY}", "1"),
        (&[("MCP_KEY", "2"), ("KEY", "3")], "${KEY}", "2"),
        (&[("KEY", "3")], "${KEY}", "3"),
        (&[("KEY", "3")], "literal", "literal"),
    ];
    for (variables, written, expected) in rows {
        let entry = serde_json::json!({"command": "it", "env": {"KEY": written}});
        let server = only(read_one(&entry.to_string(), variables));
        assert_eq!(stdio(&server).env["KEY"], expected, "{variables:?}");
    }
}

#[test]
fn a_reference_that_is_overridden_need_not_resolve() {
    let entry = r#"{"command": "it", "env": {"KEY": "${NOT_SET}"}}"#;
    let server = only(read_one(entry, &[("MCP_KEY", "2")]));
    assert_eq!(stdio(&server).env["KEY"], "2");
}

#[test]
fn variables_of_the_server_are_passed_on_unlisted() {
    let text = r#"{"mcpServers": {"meditation-notes.v2": {"command": "it"}}}"#;
    let variables = [
        ("MCP_MEDITATION_NOTES_V2_TOKEN", "1"),
        ("MCP_MEDITATION_NOTES_V2_", "nameless"),
        ("MCP_MEDITATION_TOKEN", "of another"),
        ("MCP_TOKEN", "of everybody, but not listed"),
    ];
    let server = only(loader(&variables).parse(text));
    let env: Vec<_> = stdio(&server).env.iter().collect();
    assert_eq!(env, [(&"TOKEN".to_owned(), &"1".to_owned())]);
}

#[test]
fn a_secret_of_a_longer_name_does_not_reach_a_shorter_one() {
    let text = r#"{"mcpServers": {
        "git": {"command": "git-server"},
        "git-hub": {"command": "hub-server"},
        "git-lab": {"command": "lab-server", "disabled": true}
    }}"#;
    let variables = [
        ("MCP_GIT_HUB_TOKEN", "1"),
        ("MCP_GIT_LAB_TOKEN", "2"),
        ("MCP_GIT_USER", "3"),
    ];
    let file = loader(&variables).parse(text);
    assert_eq!(file.problems, []);
    let names = |at: usize| {
        stdio(&file.servers[at])
            .env
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["USER"]);
    assert_eq!(names(1), ["TOKEN"]);
}

#[test]
fn an_entry_may_ask_for_all_variables() {
    let asks = only(read_one(r#"{"command": "it", "inherit_env": true}"#, &[]));
    assert!(stdio(&asks).inherit_env);
    let does_not = only(read_one(r#"{"command": "it"}"#, &[]));
    assert!(!stdio(&does_not).inherit_env);
}

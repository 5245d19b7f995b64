//! Every kind of problem: what it is about, and what it says.

use bowline::config::{Position, ProblemKind, Severity};
use proptest::prelude::*;

use super::{loader, read_one};

/// Checks that an entry is refused for one reason, and the text about it.
#[track_caller]
fn refused(entry: &str, text: &str) {
    let file = read_one(entry, &[]);
    assert_eq!(file.servers, [], "{entry}");
    let texts: Vec<String> = file.errors().map(ToString::to_string).collect();
    assert_eq!(texts, [format!("mcpServers.it{text}")], "{entry}");
    assert_eq!(file.problems[0].server.as_deref(), Some("it"));
}

/// Checks that an entry is used, and what is said all the same.
#[track_caller]
fn warned(entry: &str, text: &str) {
    let file = read_one(entry, &[]);
    assert_eq!(file.servers.len(), 1, "{entry}: {:?}", file.problems);
    let texts: Vec<String> = file.warnings().map(ToString::to_string).collect();
    assert_eq!(texts, [format!("mcpServers.it{text}")], "{entry}");
}

#[test]
fn values_of_the_wrong_type() {
    refused(
        "7",
        " (line 1): expected an object, found a number; write an object",
    );
    refused(
        r#"{"command": ["npx", "x"]}"#,
        ".command (line 1): expected a string, found a list; write a string",
    );
    refused(
        r#"{"command": "x", "args": "y"}"#,
        ".args (line 1): expected a list of strings, found a string; write a list of strings",
    );
    refused(
        r#"{"command": "x", "args": ["y", null]}"#,
        ".args[1] (line 1): expected a string, found null; write a string",
    );
    refused(
        r#"{"command": "x", "env": ["A=1"]}"#,
        ".env (line 1): expected an object of strings, found a list; write an object of strings",
    );
    refused(
        r#"{"command": "x", "env": {"A B": {}}}"#,
        r#".env["A B"] (line 1): expected a string, found an object; write a string"#,
    );
    refused(
        r#"{"command": "x", "disabled": "yes"}"#,
        ".disabled (line 1): expected true or false, found a string; write true or false",
    );
    refused(
        r#"{"command": "x", "timeouts": {"tool_ms": -1}}"#,
        ".timeouts.tool_ms (line 1): expected a whole number, found a number; \
         write a whole number",
    );
}

#[test]
fn entries_that_do_not_say_enough_or_too_much() {
    refused("{}", " (line 1): command or url is missing; add it");
    refused(
        r#"{"command": "x", "url": "https://a.test"}"#,
        ".url (line 1): both a command and a URL are set; \
         remove one, or set type to choose",
    );
    refused(
        r#"{"type": "stdio", "url": "x"}"#,
        " (line 1): command is missing; add it",
    );
    refused(
        r#"{"type": "sse", "command": "x"}"#,
        " (line 1): url is missing; add it",
    );
    refused(
        r#"{"type": "pigeon", "url": "x"}"#,
        ".type (line 1): unknown type; expected stdio, http, streamable-http or sse; correct it",
    );
}

#[test]
fn values_that_make_no_sense() {
    let cases = [
        (
            r#"{"command": " "}"#,
            ".command (line 1): the command is empty",
        ),
        (
            r#"{"url": "a.test/mcp"}"#,
            ".url (line 1): a URL must begin with http:// or https://",
        ),
        (
            r#"{"url": "https://a.test", "headers": {"X Y": "1"}}"#,
            r#".headers["X Y"] (line 1): invalid header name"#,
        ),
        (
            r#"{"url": "https://a.test", "headers": {"X": "1\r\nY: 2"}}"#,
            ".headers.X (line 1): a header cannot contain line breaks or control characters",
        ),
        (
            r#"{"command": "x", "env": {"A=B": "1"}}"#,
            r#".env["A=B"] (line 1): invalid variable name"#,
        ),
        (
            r#"{"command": "x", "preset": "fast"}"#,
            ".preset (line 1): unknown preset; expected standard or interactive",
        ),
        (
            r#"{"command": "x", "max_frame": 0}"#,
            ".max_frame (line 1): must be above zero",
        ),
        (
            r#"{"command": "x", "backoff": {"min_ms": 40000}}"#,
            ".backoff (line 1): the minimum backoff must not exceed the maximum",
        ),
        (
            r#"{"command": "x", "revisions": []}"#,
            ".revisions (line 1): at least one revision is required",
        ),
        (
            r#"{"command": "x", "revisions": ["1.0"]}"#,
            ".revisions[0] (line 1): unknown revision; expected one of 2024-11-05, 2025-03-26, \
             2025-06-18, 2025-11-25, 2026-07-28",
        ),
        (
            r#"{"command": "x", "roots": ["https://a.test"]}"#,
            ".roots[0] (line 1): a root must be a path or a file URI",
        ),
    ];
    for (entry, text) in cases {
        refused(entry, &format!("{text}; correct it"));
    }
}

#[test]
fn references_that_cannot_be_resolved() {
    refused(
        r#"{"command": "x", "args": ["a", "${NOT_SET}"]}"#,
        ".args[1] (line 1): environment variable NOT_SET is not set; \
         set it, or write ${NOT_SET:-value} to give a default",
    );
    refused(
        r#"{"url": "https://${env:NOT_SET}"}"#,
        ".url (line 1): environment variable NOT_SET is not set; \
         set it, or write ${NOT_SET:-value} to give a default",
    );
    refused(
        r#"{"command": "x", "env": {"A": "${input:key}"}}"#,
        ".env.A (line 1): no value for input key; \
         provide one, or refer to a variable instead",
    );
    refused(
        r#"{"command": "${command:pick}"}"#,
        ".command (line 1): ${command:pick} cannot be resolved here; \
         write the value, or refer to a variable instead",
    );
    // What follows is the system's own text.
    let file = read_one(r#"{"command": "x", "envFile": "not-there.env"}"#, &[]);
    assert_eq!(file.problems[0].path, "mcpServers.it.envFile");
    assert!(matches!(file.problems[0].kind, ProblemKind::EnvFile(_)));
    assert_eq!(file.servers, []);
}

#[test]
fn folders_that_are_not_known() {
    let loader = bowline::config::Loader::new(bowline::config::Environment::new());
    for written in [
        "~/x",
        "${userHome}",
        "${workspaceFolder}",
        "${workspaceFolderBasename}",
    ] {
        let entry = serde_json::json!({"servers": {"it": {"command": written}}});
        let file = loader.parse(&entry.to_string());
        assert_eq!(file.servers, [], "{written}");
        assert_eq!(file.problems[0].path, "servers.it.command");
    }
}

#[test]
fn what_is_ignored_is_said() {
    warned(
        r#"{"command": "x", "autoApprove": []}"#,
        ".autoApprove (line 1): unknown key, ignored; remove it, or check its spelling",
    );
    warned(
        r#"{"command": "x", "timeouts": {"tool": 1}}"#,
        ".timeouts.tool (line 1): unknown key, ignored; remove it, or check its spelling",
    );
    warned(
        r#"{"command": "sh", "args": ["-c", "echo ${X%.*}"]}"#,
        ".args[1] (line 1): ${X%.*} is not a valid reference, left as it is; \
         write ${NAME} to refer to a variable",
    );
    warned(
        r#"{"command": "x", "args": ["${OPEN"]}"#,
        ".args[0] (line 1): ${…} is not a valid reference, left as it is; \
         write ${NAME} to refer to a variable",
    );
    warned(
        r#"{"command": "x", "env": {"A": null}}"#,
        ".env.A (line 1): null cannot remove a variable, ignored; set it to an empty string",
    );
}

#[test]
fn everything_that_is_wrong_with_an_entry_is_said_at_once() {
    let entry = r#"{"command": "${A}", "args": ["${B}", 1, []], "cwd": 1, "preset": ""}"#;
    let file = read_one(entry, &[]);
    assert_eq!(file.errors().count(), 5, "{:?}", file.problems);
}

#[test]
fn a_bad_entry_does_not_stop_the_good_ones() {
    let text =
        "{\n  \"mcpServers\": {\n    \"bad\": {},\n    \"good\": {\"command\": \"x\"}\n  }\n}";
    let file = loader(&[]).parse(text);
    assert_eq!(file.servers[0].name, "good");
    let problem = &file.problems[0];
    assert_eq!(problem.server.as_deref(), Some("bad"));
    assert_eq!(
        problem.position,
        Some(Position {
            line: 3,
            column: 12
        })
    );
}

#[test]
fn of_two_entries_of_one_name_none_is_used() {
    let one_section = r#""servers": {"a": {"command": "1"}, "a": {"command": "2"}}"#;
    let two_sections = r#""servers": {"a": {"command": "1"}}, "mcpServers": {"a": {"url": 2}}"#;
    let nested = r#""servers": {"a": {"command": "1"}}, "mcp": {"servers": {"a": {}}}"#;
    let off = r#""servers": {"a": {"command": "1", "disabled": true}, "a": {"command": "2"}}"#;
    for text in [one_section, two_sections, nested, off] {
        let file = loader(&[]).parse(&format!("{{{text}}}"));
        assert_eq!((file.servers.len(), file.disabled.len()), (0, 0), "{text}");
        for problem in &file.problems {
            assert_eq!(problem.kind, ProblemKind::Duplicate, "{text}");
            assert_eq!(problem.severity(), Severity::Error, "{text}");
            assert_eq!(problem.server.as_deref(), Some("a"), "{text}");
        }
        assert_eq!(file.problems.len(), 2, "{text}");
    }
}

#[test]
fn a_part_that_stands_twice_is_not_used() {
    let server = r#"{"a": {"command": "1"}}"#;
    let cases = [
        (
            format!(r#"{{"servers": {{}}, "servers": {server}}}"#),
            "servers",
        ),
        (
            format!(r#"{{"mcp": {{}}, "mcp": {{"servers": {server}}}}}"#),
            "mcp",
        ),
        (
            format!(r#"{{"mcp": {{"servers": {server}, "servers": {{}}}}}}"#),
            "mcp.servers",
        ),
        (
            r#"{"servers": {}, "inputs": [], "inputs": []}"#.to_owned(),
            "inputs",
        ),
    ];
    for (text, path) in cases {
        let file = loader(&[]).parse(&text);
        assert_eq!(file.servers, [], "{text}");
        assert_eq!(file.problems.len(), 1, "{text}");
        assert_eq!(file.problems[0].kind, ProblemKind::DuplicateKey, "{text}");
        assert_eq!(file.problems[0].path, path);
        assert_eq!(file.errors().count(), 1, "{text}");
    }
}

#[test]
fn a_key_that_stands_twice_is_not_read() {
    let cases = [
        (r#"{"command": "safe", "command": "evil"}"#, "command"),
        (r#"{"command": "x", "env": {"A": "1", "A": "2"}}"#, "env.A"),
    ];
    for (entry, path) in cases {
        let file = read_one(entry, &[]);
        assert_eq!(file.servers, [], "{entry}");
        assert_eq!(file.problems[0].kind, ProblemKind::DuplicateKey, "{entry}");
        assert_eq!(file.problems[0].path, format!("mcpServers.it.{path}"));
    }
}

#[test]
fn a_server_for_the_workspace_comes_before_one_for_all() {
    let text = r#"{
        "mcpServers": {"a": {"command": "general"}},
        "projects": {"/srv/notes": {"mcpServers": {"a": {"command": "local"}}}}
    }"#;
    let file = loader(&[]).parse(text);
    assert_eq!(super::stdio(&file.servers[0]).command, "local");
    assert_eq!(file.servers.len(), 1);
    assert_eq!(file.problems[0].kind, ProblemKind::Overridden);
    assert_eq!(file.problems[0].severity(), Severity::Warning);
}

#[test]
fn a_server_needs_a_name_that_can_be_shown() {
    let long = "x".repeat(201);
    let bad = [
        "",
        " ",
        "a ",
        "a\nb",
        "a\tb",
        "a\u{1b}[2K",
        "a\u{9b}b",
        "a\u{202e}b",
        "a\u{2028}b",
        "a\u{200b}",
        "-a",
        &long,
    ];
    for name in bad {
        let entry = serde_json::json!({"servers": {name: {"command": "1"}}});
        let file = loader(&[]).parse(&entry.to_string());
        assert_eq!(file.servers, [], "{name:?}");
        assert_eq!(file.errors().count(), 1, "{name:?}");
        let text = file.problems[0].to_string();
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
    for name in ["a", "a b", "größer", "a-b", "日本", "x; reboot"] {
        let entry = serde_json::json!({"servers": {name: {"command": "1"}}});
        let file = loader(&[]).parse(&entry.to_string());
        assert_eq!(file.problems, [], "{name:?}");
    }
}

#[test]
fn more_servers_than_people_have_are_not_read() {
    let servers = |count: usize| {
        let server = |at: usize| (format!("s{at}"), serde_json::json!({"command": "x"}));
        let servers: serde_json::Map<_, _> = (0..count).map(server).collect();
        loader(&[]).parse(&serde_json::json!({"servers": servers}).to_string())
    };
    assert_eq!(servers(1_000).problems, []);
    let file = servers(1_001);
    assert_eq!(file.servers.len(), 1_000);
    assert_eq!(file.problems[0].kind, ProblemKind::TooManyServers(1_001));
    let said = "the file has 1001 servers, only the first 1000 are read";
    assert!(file.problems[0].to_string().contains(said));
}

#[test]
fn a_file_that_is_not_json_is_one_problem_with_a_place() {
    let cases = [
        (
            "{\n  \"mcpServers\": {\n    oops\n",
            "line 3, column 5: invalid JSON: key must be a string",
        ),
        (
            "{\"é\": 1 2}",
            "line 1, column 9: invalid JSON: expected `,` or `}`",
        ),
        (
            "// only\n{",
            "line 2, column 1: invalid JSON: EOF while parsing an object",
        ),
        (
            "{} /* open",
            "line 1, column 4: invalid JSON: trailing characters",
        ),
    ];
    for (text, expected) in cases {
        let file = loader(&[]).parse(text);
        assert_eq!(file.servers, []);
        let texts: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
        let advice = "fix the file at this position; comments are allowed";
        assert_eq!(texts, [format!("{expected}; {advice}")], "{text}");
    }
}

#[test]
fn values_that_only_look_like_json_are_named_with_their_server() {
    let text = r#"{"servers": {"a": {"command": "\ud800"}, "b": {"command": "x"}}}"#;
    let file = loader(&[]).parse(text);
    assert_eq!(file.servers[0].name, "b");
    assert_eq!(file.problems[0].server.as_deref(), Some("a"));
    assert!(matches!(file.problems[0].kind, ProblemKind::Syntax(_)));
}

#[test]
fn files_without_servers() {
    for text in [
        "",
        " \n",
        "// nothing yet\n",
        "{}",
        r#"{"editor.fontSize": 13, "mcp": true}"#,
    ] {
        assert_eq!(loader(&[]).parse(text).problems, [], "{text}");
    }
    let wrong = [
        ("[]", "expected an object, found a list; write an object"),
        (
            r#"{"mcpServers": []}"#,
            "mcpServers: expected an object, found a list; write an object",
        ),
        (
            r#"{"mcp_servers": {}}"#,
            "mcp_servers: unexpected place for servers, ignored; \
             move them into an object named mcpServers",
        ),
        (
            r#"{"time": {"command": "uvx"}}"#,
            "time: unexpected place for servers, ignored; move them into an object named mcpServers",
        ),
    ];
    for (text, expected) in wrong {
        let file = loader(&[]).parse(text);
        let texts: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
        assert_eq!(texts, [expected], "{text}");
    }
}

#[test]
fn secrets_are_not_in_problems_or_debug_output() {
    let text = r#"{"servers": {
        "a": {"url": "https://u:s3cret@a.test/?k=s3cret", "headers": {"X": "s3cret"}},
        "b": {"command": "x", "env": {"K": "s3cret", "L": "${KEY}"}},
        "c": {"url": "s3cret", "headers": {"X": "s3cret\n"}, "type": 1},
        "d": {"url": "s3cret", "headers": {"X": "s3cret\n", "Y": ["s3cret"]}}
    }}"#;
    let loader = loader(&[("KEY", "s3cret")]);
    let file = loader.parse(text);
    assert_eq!(file.servers.len(), 2);
    assert!(file.problems.len() > 3);
    let mut shown = format!("{file:?} {loader:?}");
    for problem in &file.problems {
        shown.push_str(&problem.to_string());
    }
    assert!(!shown.contains("s3cret"), "{shown}");
}

/// Found by the property below.
#[test]
fn a_fault_behind_a_comment_is_placed_by_characters() {
    let file = loader(&[]).parse("[//éé");
    let place = file.problems[0].position.expect("a place");
    assert_eq!((place.line, place.column), (1, 5));
}

proptest! {
    /// Pieces of such files in any order, most of which make no file.
    #[test]
    fn nothing_makes_it_panic(pieces in prop::collection::vec(
        prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "//", "/*", "*/", "\n", " ", "é", "\u{feff}",
            "7", "null", "1e999", "\"mcpServers\":", "\"servers\":", "\"mcp\":", "\"it\":{",
            "\"command\":", "\"args\":[", "\"env\":{", "\"url\":", "\"https://a.test\"",
            "\"${A}\"", "\"${\"", "\"~/\"", "\"\\ud800\"", "\"timeouts\":{", "\"preset\":",
        ]),
        0..24,
    )) {
        let file = loader(&[]).parse(&pieces.concat());
        for problem in &file.problems {
            prop_assert!(!problem.to_string().is_empty());
        }
    }

    #[test]
    fn a_fault_of_syntax_has_a_place_inside_of_the_text(text in "[\\[\\]{}:,\"é\n 1x/*]{1,20}") {
        let file = loader(&[]).parse(&text);
        for at in file.problems.iter().filter_map(|problem| problem.position) {
            let line = text.split('\n').nth(at.line - 1);
            let length = line.map(|line| line.chars().count());
            prop_assert!(length.is_some_and(|length| at.column <= length + 1), "{at:?}");
        }
    }
}

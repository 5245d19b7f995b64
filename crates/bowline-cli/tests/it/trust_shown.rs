//! What people see of a project's server before they say yes.

use std::fs;

use serde_json::{Value, json};

use crate::{
    rig::{Ran, finish},
    trust::Project,
};

/// What is shown of an entry before it is trusted.
fn shown(entry: &Value) -> String {
    let project = Project::new();
    project.rig.file("theirs.env", "FROM_FILE=hidden\n");
    project.write(&json!({"theirs": entry}));
    let ran = project.rig.run(&["config", "trust", "theirs", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stderr
}

#[track_caller]
fn check(entry: &Value, expected: &[&str]) {
    let shown = shown(entry);
    for part in expected {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
}

#[test]
fn everything_that_an_entry_says_is_shown() {
    let settings = json!({
        "command": "sh",
        "args": ["-c", "exit 3"],
        "env": {"A": "1", "B": "${HOME}"},
        "envFile": "theirs.env",
        "inherit_env": true,
        "cwd": "/",
        "roots": ["/home", "~/x"],
        "timeouts": {"tool_ms": 1234},
        "max_frame": "64MiB",
        "revisions": ["2025-11-25"],
        "projects": ["that one"],
        "something": "new",
    });
    let expected = [
        "command   sh -c 'exit 3'\n",
        "arguments 2\n",
        "folder    /\n",
        "variable  A=1\n",
        "variable  B=${HOME}\n",
        "variables from the file theirs.env, which sets FROM_FILE\n",
        "variables all of your environment (inherit_env)\n",
        "setting   roots: [\"/home\",\"~/x\"]\n",
        "setting   timeouts: {\"tool_ms\":1234}\n",
        "setting   max_frame: 64MiB\n",
        "setting   revisions: [\"2025-11-25\"]\n",
        "setting   projects: [\"that one\"]\n",
        "setting   something: new\n",
    ];
    check(&settings, &expected);
    let remote = json!({
        "type": "http",
        "url": "http://example.com/mcp?key=${HOME}",
        "headers": {"X": "${HOME}"},
        "allowPlainHttp": true,
    });
    let expected = [
        "address   http://example.com/mcp?key=${HOME}\n",
        "host      example.com\n",
        "header    X: ${HOME}\n",
        "setting   allowPlainHttp: true\n",
    ];
    check(&remote, &expected);
    assert!(!shown(&settings).contains("hidden"), "values of the file");
}

#[test]
fn nothing_of_the_environment_is_shown() {
    let project = Project::new();
    project.write(&json!({
        "theirs": {"command": "${SECRET}", "args": ["--key", "${SECRET}"]},
        "remote": {"url": "https://${SECRET}.example.com/mcp/${SECRET}"},
    }));
    let mine = json!({"command": "true", "args": ["--key", "${SECRET}"]});
    project
        .rig
        .configure(&json!({"mcpServers": {"mine": mine}}));
    let runs: &[&[&str]] = &[
        &["servers", "--no-check"],
        &["servers", "--no-check", "--json"],
        &["servers", "--json"],
        &["list", "theirs"],
        &["list", "remote"],
        &["config", "trust"],
        &["config", "import", "--dry-run"],
        &["config", "import"],
        &["config", "trust", "theirs", "remote", "--yes"],
    ];
    for words in runs {
        let mut command = project.rig.command(words);
        command.env("SECRET", "s3cret");
        let ran: Ran = finish(command.spawn().expect("it starts"));
        let all = format!("{}{}", ran.text(), ran.stderr);
        assert!(!all.contains("s3cret"), "{words:?}: {ran:?}");
        assert!(all.contains("${SECRET}"), "{words:?}: {ran:?}");
    }
}

#[test]
fn padding_hides_nothing() {
    let blanks = " ".repeat(5000);
    let entry = json!({"command": format!("sh{blanks}x"), "args": [format!("a{blanks}b")]});
    let text = shown(&entry);
    assert!(
        text.contains("'sh(5000 blanks)x' 'a(5000 blanks)b'"),
        "{text}"
    );
    assert!(text.len() < 1000, "{text}");
    let wide = "\u{3000}".repeat(50) + &"\u{a0}".repeat(50);
    let text = shown(&json!({"command": "sh", "args": [format!("a{wide}b")]}));
    assert!(text.contains("a(100 blanks)b"), "{text}");
    let long = "x".repeat(100_000);
    let text = shown(&json!({"command": "sh", "args": ["-c", format!("evil {long} end")]}));
    assert!(text.contains("sh -c 'evil xxx"), "{text}");
    assert!(text.contains("characters omitted"), "{text}");
    assert!(text.contains("xxx end'"), "{text}");
    assert!(text.len() < 2000, "{text}");
    let mut many = vec!["harmless"; 5000];
    many.push("evil");
    let text = shown(&json!({"command": "sh", "args": many}));
    assert!(text.contains("command   sh harmless"), "{text}");
    assert!(text.contains("arguments omitted"), "{text}");
    assert!(text.contains("harmless evil\n"), "{text}");
    assert!(text.contains("arguments 5001\n"), "{text}");
    assert!(text.len() < 3000, "{text}");
}

#[test]
fn an_address_cannot_hide_its_host() {
    let (head, tail) = ("good.test/".repeat(20), "/good.test".repeat(20));
    let head = head.replace('/', "-");
    let text = shown(&json!({"url": format!("https://{head}@evil.test{tail}")}));
    assert!(text.contains("host      evil.test\n"), "{text}");
    let text = shown(&json!({"url": "https://evil.test", "address": "https://good.test"}));
    assert!(
        text.contains("setting   address: https://good.test\n"),
        "{text}"
    );
}

#[test]
fn many_settings_do_not_move_the_command_out_of_sight() {
    let variables: serde_json::Map<String, Value> = (0..5000)
        .map(|at| (format!("V{at}"), Value::from("x")))
        .collect();
    let text = shown(&json!({"command": "sh", "args": ["evil"], "env": variables}));
    assert!(text.lines().count() < 100, "{text}");
    assert!(text.contains("and 49"), "how many more there are: {text}");
    let tail: Vec<&str> = text.trim_end().lines().rev().take(2).collect();
    assert!(
        tail.iter()
            .any(|line| line.contains("it would run: sh evil")),
        "{text}"
    );
}

#[test]
fn names_that_could_be_more_than_a_name_are_refused() {
    let project = Project::new();
    let names = ["a\nb", "a\u{1b}[2K", "a\u{202e}b", "a\u{2028}b", "-rf", " "];
    let servers = names.map(|name| (name.to_owned(), project.entry()));
    project.write(&Value::Object(servers.into_iter().collect()));
    let listed = project.rig.run(&["servers", "--no-check", "--json"]).json();
    let servers = listed["servers"].as_array().expect("a list");
    for name in names {
        assert!(servers.iter().all(|it| it["name"] != name), "{name:?}");
        let ran = project.rig.run(&["list", "--trust-project", name]);
        assert!(!project.was_started(), "{name:?}: {ran:?}");
    }
    let problems = listed["problems"].as_array().expect("a list").iter();
    let theirs = |it: &&Value| {
        it["file"]
            .as_str()
            .is_some_and(|it| it.ends_with(".mcp.json"))
    };
    let problems: Vec<_> = problems.filter(theirs).collect();
    assert_eq!(problems.len(), names.len(), "{problems:?}");
}

#[test]
fn hints_can_be_typed() {
    let project = Project::new();
    let file = project.rig.work().join("my servers.json");
    let servers = json!({"mcpServers": {"it's": {"command": "./missing"}}});
    fs::write(file, servers.to_string()).expect("it can be written");
    let words = ["list", "it's", "--config", "my servers.json"];
    let ran = project.rig.run(&words);
    let hint = r"run `bowline doctor --config 'my servers.json' 'it'\''s'` to find out why";
    assert!(ran.stderr.contains(hint), "{ran:?}");
    let listed = project.rig.run(&["servers", "--config", "my servers.json"]);
    let hint = r"run `bowline doctor --config 'my servers.json' 'it'\''s'` to find out why";
    assert!(listed.text().contains(hint), "{listed:?}");
}

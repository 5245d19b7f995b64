//! Projects that want more than they get: names, variables, a yes that was
//! meant for something else.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    rig::{Ran, example, finish},
    terminal::Terminal,
    trust::{NOT_TRUSTED, Project},
};

/// The command with further variables.
fn run_with(project: &Project, variables: &[(&str, &str)], words: &[&str]) -> Ran {
    let mut command = project.rig.command(words);
    command.envs(variables.iter().copied());
    finish(command.spawn().expect("it starts"))
}

fn own_file(project: &Project) -> PathBuf {
    project.rig.home().join(".config/bowline/bowline.json")
}

#[test]
fn only_what_was_added_is_trusted() {
    let project = Project::new();
    let theirs = project.entry().to_string();
    let folder = project.rig.work().canonicalize().expect("it is there");
    let folder = json!(folder).to_string();
    let texts = [
        format!(r#"{{"mcpServers": {{}}, "servers": {{"mine": {theirs}}}}}"#),
        format!(r#"{{"servers": {{}}, "mcpServers": {{"mine": {theirs}}}}}"#),
        format!(r#"{{"mcpServers": {{}}, "mcp": {{"servers": {{"mine": {theirs}}}}}}}"#),
        format!(r#"{{"mcpServers": {{}}, "mcpServers": {{"mine": {theirs}}}}}"#),
        format!(r#"{{"mcpServers": {{"mine": {{"command": "x"}}, "mine": {theirs}}}}}"#),
    ];
    for text in texts {
        let file = project.rig.file("bowline.json", &text);
        let add = ["config", "add", "mine", "--project", "--force", "--"];
        project.check_refused(&[&add[..], &["true"]].concat(), "bowline.json");
        let now = fs::read_to_string(&file).expect("it is there");
        assert_eq!(now, text, "nothing was changed");
        project.check_refused(&["list", "mine"], "mine");
    }
    // What Claude Code keeps by folder, it keeps in the user's own file.
    let text = format!(
        r#"{{"mcpServers": {{}}, "projects": {{{folder}: {{"mcpServers": {{"mine": {theirs}}}}}}}}}"#
    );
    project.rig.file("bowline.json", text);
    project
        .rig
        .run(&["config", "add", "mine", "--project", "--", "true"]);
    project.rig.run(&["list", "mine"]);
    assert!(!project.was_started());
}

#[test]
fn a_link_is_not_written_through() {
    let project = Project::new();
    let elsewhere = project.rig.home().join("precious.json");
    fs::write(&elsewhere, "{}").expect("it can be written");
    symlink(&elsewhere, project.rig.work().join("bowline.json")).expect("a link");
    let add = ["config", "add", "mine", "--project", "--", "true"];
    project.check_refused(&add, "is a symbolic link");
    let kept = fs::read_to_string(&elsewhere).expect("it is there");
    assert_eq!(kept, "{}");
    // The user's own may be: people keep such files elsewhere.
    fs::remove_file(own_file(&project)).expect("it is there");
    symlink(&elsewhere, own_file(&project)).expect("a link");
    let ran = project.rig.run(&["config", "add", "mine", "--", "true"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let kept = fs::read_to_string(&elsewhere).expect("it is there");
    assert!(kept.contains("mine"), "{kept}");
}

#[test]
fn a_folder_that_others_can_write_is_not_written_to() {
    use std::os::unix::fs::PermissionsExt as _;

    let project = Project::new();
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(project.rig.work(), open).expect("it is ours");
    let add = ["config", "add", "mine", "--project", "--", "true"];
    project.check_refused(&add, "other users can write");
    assert!(!project.rig.work().join("bowline.json").exists());
}

#[test]
fn names_of_a_file_that_cannot_be_read_are_not_free() {
    let project = Project::new();
    project.write(&json!({"theirs": project.entry()}));
    project.trust("theirs");
    project.check_started(&["list", "theirs"]);
    let broken = project.rig.home().join(".claude.json");
    for text in [
        "{\"mcpServers\": {\"theirs\": ",
        "{\"mcpServers\": []}",
        "\u{0}",
    ] {
        fs::write(&broken, text).expect("it can be written");
        let why = "~/.claude.json cannot be read";
        project.check_refused(&["list", "theirs"], why);
        project.check_refused(&["list", "theirs", "--trust-project"], why);
        project.check_refused(&["config", "trust", "theirs", "--yes"], why);
        for verb in [&["list"][..], &["servers"], &["status"], &["sync"]] {
            let ran = project.rig.run(verb);
            assert!(!project.was_started(), "{verb:?}: {ran:?}");
        }
        let own = project.rig.run(&["list", "github"]);
        assert_eq!(own.code, Some(0), "the user's own still work: {own:?}");
    }
    fs::remove_file(broken).expect("it is there");
    project.check_started(&["list", "theirs"]);
}

#[test]
fn variables_for_servers_of_the_user_do_not_reach_a_project() {
    let project = Project::new();
    let script = format!("env > {}; exit 3", project.mark().display());
    let env = json!({"KEY": "theirs"});
    let entry = json!({"command": "sh", "args": ["-c", script], "env": env});
    project.write(&json!({"theirs": entry, "git": entry}));
    let variables = [
        ("MCP_THEIRS_TOKEN", "s3cret"),
        ("MCP_THEIRS_KEY", "s3cret"),
        ("MCP_KEY", "s3cret"),
        ("MCP_GIT_HUB_TOKEN", "s3cret"),
    ];
    for name in ["theirs", "git"] {
        run_with(&project, &variables, &["list", name, "--trust-project"]);
        let got = fs::read_to_string(project.mark()).expect("it was started");
        assert!(got.contains("KEY=theirs"), "{got}");
        assert!(!got.contains("s3cret"), "{got}");
    }
}

#[test]
fn variables_belong_to_the_longest_name_in_any_file() {
    let project = Project::new();
    let script = format!("env > {}; exit 3", project.mark().display());
    let entry = json!({"command": "sh", "args": ["-c", script]});
    project
        .rig
        .configure(&json!({"mcpServers": {"git": entry}}));
    let hub = json!({"mcpServers": {"git-hub": {"command": "x"}}}).to_string();
    fs::write(project.rig.home().join(".claude.json"), hub).expect("it can be written");
    let variables = [("MCP_GIT_HUB_TOKEN", "s3cret"), ("MCP_GIT_USER", "me")];
    run_with(&project, &variables, &["list", "git"]);
    let got = fs::read_to_string(project.mark()).expect("it was started");
    assert!(got.contains("USER=me"), "{got}");
    assert!(!got.contains("s3cret"), "{got}");
}

#[test]
fn to_use_for_once_is_not_to_copy_for_good() {
    let project = Project::new();
    project.write(&json!({"theirs": project.entry()}));
    let has = || {
        let text = fs::read_to_string(own_file(&project)).expect("it is there");
        text.contains("theirs")
    };
    let ran = project.rig.run(&["config", "import", "--trust-project"]);
    assert!(!has(), "{ran:?}");
    assert!(ran.stderr.contains("left out theirs"), "{ran:?}");
    // A yes was for the file of the project, as long as it says the same.
    project.trust("theirs");
    let ran = project.rig.run(&["config", "import"]);
    assert!(!has(), "{ran:?}");
    let ran = project.rig.run(&["config", "import", "--yes"]);
    assert!(has(), "{ran:?}");
    assert!(ran.stderr.contains("command   sh -c 'touch"), "{ran:?}");
}

#[test]
fn what_is_copied_keeps_its_settings() {
    let project = Project::new();
    let settings = json!({
        "command": example("fixture"),
        "args": ["${PORT}"],
        "env": {"KEY": "${KEY}"},
        "inherit_env": true,
        "cwd": "/",
        "projects": ["one"],
        "timeouts": {"opening_ms": 1, "probe_ms": 2, "resource_ms": 3, "tool_ms": 4,
            "other_ms": 5, "input_ms": 6},
        "backoff": {"min_ms": 7, "max_ms": 8},
        "max_frame": 9,
        "revisions": ["2025-11-25"],
        "roots": ["file:///a"],
    });
    let remote = json!({
        "type": "http",
        "url": "http://example.com/mcp",
        "headers": {"Authorization": "${KEY}"},
        "allowPlainHttp": true,
    });
    let file = json!({"mcpServers": {"local": settings, "remote": remote}});
    fs::write(project.rig.home().join(".claude.json"), file.to_string()).expect("it is ours");
    let ran = project.rig.run(&["config", "import"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = fs::read_to_string(own_file(&project)).expect("it is there");
    let copied: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(copied["mcpServers"]["local"], settings);
    assert_eq!(copied["mcpServers"]["remote"], remote);
}

#[test]
fn nobody_is_signed_out_of_what_they_do_not_trust() {
    let project = Project::new();
    project.write(&json!({"theirs": {"url": "http://127.0.0.1:1/mcp"}}));
    project.check_refused(&["auth", "logout", "theirs"], NOT_TRUSTED);
    project.check_refused(&["auth", "status", "theirs"], NOT_TRUSTED);
    let all = project.rig.run(&["auth", "status"]);
    assert_eq!((all.code, all.text()), (Some(0), ""), "{all:?}");
    assert!(all.stderr.contains("theirs"), "it says so: {all:?}");
    project.trust("theirs");
    let ran = project.rig.run(&["auth", "status", "theirs"]);
    assert_eq!(ran.text(), "theirs: not signed in\n");
    let ran = project.rig.run(&["auth", "logout", "theirs"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_pipe_is_no_file_of_a_project() {
    let project = Project::new();
    let pipe = project.rig.work().join(".mcp.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|made| made.success()));
    for words in [&["servers", "--no-check"][..], &["config", "import"]] {
        // It would wait for ever.
        project.rig.run(words);
    }
}

#[test]
fn a_yes_in_a_terminal_is_asked_for_copies_too() {
    let project = Project::new();
    project.write(&json!({"theirs": project.entry()}));
    project.trust("theirs");
    let mut asked = Terminal::run(&project.rig, &["config", "import", "--trust-project"]);
    asked.wait_for("Copy it into your own file");
    asked.wait_for("[y/N]").type_line("n");
    asked.end();
    let text = fs::read_to_string(own_file(&project)).expect("it is there");
    assert!(!text.contains("theirs"), "{text}");
}

//! Servers that work in folders: `filesystem`, `memory` and `git`.

use std::{fs, process::Command};

use serde_json::json;

use super::{node, python, run, told, value};
use crate::rig::Rig;

#[test]
fn files_are_written_and_read_within_the_folder() {
    let rig = Rig::empty();
    let folder = rig.work().canonicalize().expect("it is there");
    let inside = folder.to_str().expect("the path is text").to_owned();
    let server = [node("mcp-server-filesystem"), inside.clone()];
    let path = format!("path={inside}/log.txt");
    rig.file("said.txt", "day one\n");
    // The content comes from a file of ours.
    let args = ["call", "write_file", &path, "content=@said.txt"];
    told(&rig, &args, &server);
    let written = fs::read_to_string(folder.join("log.txt")).expect("it was written");
    assert_eq!(written, "day one\n");
    let read = value(&rig, &["call", "read_text_file", &path], &server);
    assert_eq!(read["structuredContent"]["content"], "day one\n");
    let outside = run(
        &rig,
        &["call", "read_text_file", "path=/etc/passwd"],
        &server,
    );
    assert_eq!(outside.code, Some(5), "{outside:?}");
    assert!(outside.stderr.contains("Access denied"), "{outside:?}");
}

#[test]
fn a_memory_outlives_its_process() {
    let rig = Rig::empty();
    let file = rig.work().join("memory.jsonl");
    let (command, env) = (node("mcp-server-memory"), json!({"MEMORY_FILE_PATH": file}));
    rig.configure(&json!({"mcpServers": {"memory": {"command": command, "env": env}}}));
    let entities = r#"entities:=[{name: knot, entityType: thing, observations: ["holds"]}]"#;
    told(&rig, &["call", "memory.create_entities", entities], &[]);
    let args = ["call", "memory.search_nodes", "query=HOLDS"];
    let found = value(&rig, &args, &[]);
    let names = &found["structuredContent"]["entities"];
    assert_eq!(names[0]["name"], "knot", "{found}");
    let wrong = ["call", "memory.create_entities", "entities:=[{name: knot}]"];
    let ran = run(&rig, &wrong, &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("entities[0]"), "{ran:?}");
}

#[test]
fn a_repository_is_looked_at_in_both_eras() {
    let rig = Rig::empty();
    rig.file("log.txt", "day one\n");
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "Nobody"],
        &["config", "user.email", "nobody@example.com"],
        &["config", "commit.gpgsign", "false"],
        &["add", "log.txt"],
        &["commit", "--quiet", "--message=First"],
    ] {
        let mut git = Command::new("git");
        let status = git.current_dir(rig.work()).args(arguments).status();
        assert!(status.is_ok_and(|status| status.success()), "{arguments:?}");
    }
    rig.file("log.txt", "day two\n");
    let folder = rig.work().canonicalize().expect("it is there");
    let folder = folder.to_str().expect("the path is text");
    let server = [
        python("mcp-server-git"),
        "--repository".to_owned(),
        folder.to_owned(),
    ];
    let here = format!("repo_path={folder}");
    for (era, tool, expected) in [
        ("2025-11-25", "git_diff_unstaged", "+day two"),
        ("2026-07-28", "git_log", "First"),
    ] {
        let args = ["call", tool, &here, "--protocol", era];
        let text = told(&rig, &args, &server);
        assert!(text.contains(expected), "{era}: {text}");
    }
}

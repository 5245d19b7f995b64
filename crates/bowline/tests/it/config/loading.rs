//! Files on a disk: there, not there, and beside each other.

use std::{fs, io, path::PathBuf};

use bowline::config::{ProblemKind, ServersFile};

use super::{loader, stdio};

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("config")
        .join(name);
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

#[test]
fn a_missing_file_is_an_error_or_nothing() {
    let path = folder("missing").join("mcp.json");
    let error = loader(&[]).load(&path).expect_err("it is not there");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().contains("mcp.json"), "{error}");
    assert_eq!(loader(&[]).load_optional(&path), ServersFile::default());
    let below_a_file = folder("missing").join("file");
    fs::write(&below_a_file, "").expect("it can be written");
    let file = loader(&[]).load_optional(below_a_file.join("mcp.json"));
    assert_eq!(file, ServersFile::default());
}

#[test]
fn a_file_that_cannot_be_read_is_a_problem() {
    let file = loader(&[]).load_optional(folder("unreadable"));
    assert!(matches!(file.problems[0].kind, ProblemKind::Unreadable(_)));

    let path = folder("unreadable").join("utf16.json");
    fs::write(&path, b"\xff\xfe{\0}\0").expect("it can be written");
    let file = loader(&[]).load(&path).expect("it can be read");
    assert!(matches!(file.problems[0].kind, ProblemKind::Syntax(_)));
}

#[test]
fn variables_come_from_a_file_beside_it() {
    let folder = folder("cursor");
    let path = folder.join("mcp.json");
    fs::write(&path, include_str!("samples/cursor.json")).expect("it can be written");
    let variables = "# Ours\nexport TOKEN='a b'\nPORT=1\nPLAIN=${API_KEY}\nOVER=1\nnonsense\n";
    fs::write(folder.join("samples.env"), variables).expect("it can be written");

    let loader = loader(&[("API_KEY", "s3cret"), ("MCP_LOCAL_OVER", "2")]).workspace(&folder);
    let file = loader.load(&path).expect("it can be read");
    let env = &stdio(&file.servers[0]).env;
    assert_eq!(env["TOKEN"], "a b");
    assert_eq!(env["PORT"], "3000", "the entry counts more than the file");
    assert_eq!(env["PLAIN"], "${API_KEY}", "the file is taken by its word");
    assert_eq!(env["OVER"], "2", "the environment counts more than both");
    assert_eq!(env["PROJECT"], "cursor");
    let script = format!("{}/tools/server.py", folder.display());
    let args = stdio(&file.servers[0]).args[0].replace('\\', "/");
    assert_eq!(args, script.replace('\\', "/"));
    let kinds: Vec<_> = file
        .problems
        .iter()
        .map(|problem| problem.kind.clone())
        .collect();
    assert_eq!(kinds, [ProblemKind::EnvFileLine(6)]);
}

#[test]
fn this_process_has_an_environment() {
    let path = folder("process").join("mcp.json");
    let text = r#"{"servers": {"it": {"command": "x", "env": {"P": "${PATH}"}}}}"#;
    fs::write(&path, text).expect("it can be written");
    let file = ServersFile::load(&path).expect("it can be read");
    let here = std::env::var("PATH").expect("there is one");
    assert_eq!(stdio(&file.servers[0]).env["P"], here);
    assert_eq!(ServersFile::load_optional(&path), file);
}

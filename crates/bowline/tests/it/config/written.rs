//! What a file says, by which a program remembers what it was allowed to run.

use super::{Variables, only, read_one};

#[track_caller]
fn canonical(entry: &str, variables: Variables<'_>) -> String {
    only(read_one(entry, variables)).raw.canonical()
}

#[test]
fn looks_do_not_count() {
    let one = canonical(r#"{"command": "x", "env": {"A": "1", "B": "2"}}"#, &[]);
    let other = "{ // a remark\n \"env\": {\"B\":\"2\", \"A\":\"1\"},\n\"command\":\"x\", }";
    assert_eq!(canonical(other, &[]), one);
}

#[test]
fn every_change_counts() {
    let first = r#"{"command": "x", "args": ["a", "b"], "env": {"A": "1"}, "cwd": "/d"}"#;
    let changed = [
        r#"{"command": "y", "args": ["a", "b"], "env": {"A": "1"}, "cwd": "/d"}"#,
        r#"{"command": "x", "args": ["b", "a"], "env": {"A": "1"}, "cwd": "/d"}"#,
        r#"{"command": "x", "args": ["a b"], "env": {"A": "1"}, "cwd": "/d"}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"A": "2"}, "cwd": "/d"}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"A": "1"}, "cwd": "/e"}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"A": "1"}, "cwd": "/d", "roots": ["/"]}"#,
        r#"{"url": "https://a.test/mcp"}"#,
        r#"{"url": "https://b.test/mcp"}"#,
        r#"{"url": "https://a.test/mcp", "headers": {"X": "1"}}"#,
        r#"{"url": "https://a.test/mcp", "headers": {"X": "2"}}"#,
    ];
    let mut texts: Vec<String> = changed.iter().map(|entry| canonical(entry, &[])).collect();
    texts.push(canonical(first, &[]));
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), changed.len() + 1);
}

#[test]
fn references_count_as_they_are_written() {
    let entry = r#"{"command": "${RUN:-npx}", "env": {"KEY": "${KEY}"}}"#;
    let one = canonical(entry, &[("KEY", "1"), ("RUN", "a")]);
    assert_eq!(canonical(entry, &[("KEY", "2"), ("RUN", "b")]), one);
    assert!(!one.contains("\"1\""), "no value of a variable is in it");
    let other = r#"{"command": "${RUN:-evil}", "env": {"KEY": "${KEY}"}}"#;
    assert_ne!(canonical(other, &[("KEY", "1"), ("RUN", "a")]), one);
}

#[test]
fn a_file_of_variables_counts_as_if_it_stood_there() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("written-{}.env", std::process::id()));
    let entry = format!(
        r#"{{"command": "x", "envFile": {:?}}}"#,
        path.display().to_string()
    );
    std::fs::write(&path, "A=1\n").expect("it can be written");
    let one = canonical(&entry, &[]);
    std::fs::write(&path, "A=1\nLD_PRELOAD=./evil.so\n").expect("it can be written");
    let other = canonical(&entry, &[]);
    std::fs::remove_file(&path).expect("it is there");
    assert_ne!(one, other);
}

#[cfg(unix)]
#[test]
fn devices_are_no_files_of_variables() {
    let file = read_one(r#"{"command": "x", "envFile": "/dev/zero"}"#, &[]);
    assert_eq!(file.servers, []);
    assert!(
        file.problems[0]
            .to_string()
            .contains("it is not a regular file")
    );
}

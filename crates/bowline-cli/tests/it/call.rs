//! Looking at servers, and calling them: what a transcript cannot show.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::rig::{BOWLINE, Ran, Rig, environment, example, finish};

#[track_caller]
fn check(ran: &Ran, code: i32) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
}

#[test]
fn a_server_that_is_there_answers() {
    let ran = Rig::new().run(&["ping", "fixture", "--json"]);
    check(&ran, 0);
    assert_eq!(ran.json()["server"], "fixture");
    assert_eq!(ran.stderr, "");
}

/// The fixture over HTTP, and its address.
struct Served {
    process: Child,
    url: String,
}

impl Served {
    fn start() -> Self {
        let mut command = Command::new(example("fixture"));
        let command = command.arg("--http").stdout(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let stdout = process.stdout.take().expect("it has an output");
        let mut url = String::new();
        let read = BufReader::new(stdout).read_line(&mut url);
        read.expect("it says where it is");
        let url = url.trim().to_owned();
        Self { process, url }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_server_may_be_an_address() {
    let served = Served::start();
    let rig = Rig::empty();
    for protocol in ["2026-07-28", "2025-06-18"] {
        let run = |args: &[&str]| {
            let ran = rig.run(&[args, &["--protocol", protocol]].concat());
            check(&ran, 0);
            ran.text().to_owned()
        };
        let url = &served.url;
        assert_eq!(run(&["call", url, "echo", "message=hi"]), "hi\n");
        assert_eq!(run(&["read", url, "note:///by/ada/x"]), "x, by ada");
        assert!(run(&["prompt", url, "hello"]).contains("Hello!"));
        assert!(run(&["list", url]).contains("echo(message: string)"));
        assert!(run(&["raw", url, "tools/call", "name=picture"]).contains("image/png"));
        let complete = ["complete", url, "summarise", "style=sho"];
        assert_eq!(run(&complete), "short\nshouting\n");
        assert!(run(&["ping", url]).contains(" answered in "));
    }
}

#[test]
fn a_server_is_a_name_or_a_command() {
    let fixture = example("fixture");
    let fixture = fixture.to_str().expect("the path is text");
    let ran = Rig::empty().run(&["call", "echo", "message=hi", "--", fixture]);
    check(&ran, 0);
    assert_eq!(ran.text(), "hi\n");
    let ran = Rig::empty().run(&["list", "ehco", "--", fixture]);
    check(&ran, 1);
    assert!(ran.stderr.contains("did you mean `echo`?"), "{ran:?}");
}

#[test]
fn arguments_come_from_standard_input() {
    let rig = Rig::new();
    let all = r#"{"count": 3, "tags": ["a"]}"#;
    let ran = rig.run_with(&["call", "fixture.show", "-", "count=4"], all);
    check(&ran, 0);
    assert_eq!(ran.json(), json!({"count": 4, "tags": ["a"]}));
    let ran = rig.run_with(&["call", "fixture.echo", "message=@-"], "one\ntwo");
    check(&ran, 0);
    assert_eq!(ran.text(), "one\ntwo\n");
    let ran = rig.run_with(&["call", "fixture.show", "-", "text=@-"], "{}");
    check(&ran, 1);
    assert!(ran.stderr.contains("already read"), "{ran:?}");
}

#[test]
fn everything_about_a_json_result_is_on_standard_output() {
    let rig = Rig::new();
    let verbs: [&[&str]; 7] = [
        &["list"],
        &["list", "fixture"],
        &["call", "fixture.everything"],
        &["resources", "fixture"],
        &["prompts", "fixture"],
        &["read", "fixture", "note:///logo"],
        &["raw", "fixture", "server/discover"],
    ];
    for verb in verbs {
        let ran = rig.run(&[verb, &["--json"]].concat());
        check(&ran, 0);
        assert!(ran.json().is_object(), "{ran:?}");
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn lists_are_whole_and_keep_what_is_unknown() {
    let ran = Rig::new().run(&["list", "fixture", "--json"]);
    check(&ran, 0);
    let listed = ran.json();
    let tools = listed["tools"].as_array().expect("a list");
    // The fixture's pages hold five.
    assert!(tools.len() > 10, "{}", tools.len());
    assert_eq!(listed.get("nextCursor"), None);
    let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names[0], "echo");
}

#[test]
fn one_server_that_fails_does_not_hide_the_others() {
    let rig = Rig::new();
    let fixture = json!({"command": example("fixture")});
    let gone = json!({"command": "no-such-program"});
    rig.configure(&json!({"mcpServers": {"gone": gone, "fixture": fixture}}));
    let ran = rig.run(&["list"]);
    check(&ran, 0);
    assert!(
        ran.text().starts_with("fixture 18 tools\n  echo "),
        "{ran:?}"
    );
    assert!(
        ran.stderr.starts_with("failed: gone: the command "),
        "{ran:?}"
    );
    let ran = rig.run(&["list", "--json"]);
    check(&ran, 0);
    let listed = ran.json();
    assert!(listed["gone"]["error"].is_string());
    assert!(listed["fixture"]["tools"].is_array());
}

#[test]
fn if_all_servers_fail_so_does_the_list() {
    let rig = Rig::empty();
    // The name of the one that is built in is taken, too.
    let gone = json!({"command": "no-such-program"});
    rig.configure(&json!({"mcpServers": {"gone": gone, "demo": gone}}));
    check(&rig.run(&["list"]), 4);
}

#[test]
fn a_call_that_is_never_answered_ends() {
    let ran = Rig::new().run(&["call", "fixture.stuck", "--timeout", "2"]);
    check(&ran, 124);
    assert!(ran.stderr.contains("--timeout SECONDS"), "{ran:?}");
}

#[test]
fn what_is_not_text_is_saved_under_harmless_names() {
    let rig = Rig::new();
    let ran = rig.run(&["call", "fixture.everything", "--out", "saved"]);
    check(&ran, 0);
    let mut names: Vec<_> = fs::read_dir(rig.work().join("saved"))
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["everything-1.png", "everything-2.wav", "everything-3.bin"]
    );
    let blob = fs::read(rig.work().join("saved/everything-3.bin")).expect("it is there");
    assert_eq!(blob, [0, 1, 2, 255]);
    assert!(
        ran.stderr
            .contains("saved saved/everything-1.png (image/png, 70 bytes)")
    );
}

#[test]
fn no_file_is_overwritten_unless_told_so() {
    let rig = Rig::new();
    let kept = rig.file("kept.png", "mine");
    let call = ["call", "fixture.picture", "--out", "kept.png"];
    let ran = rig.run(&call);
    check(&ran, 1);
    assert!(
        ran.stderr.contains("use --force to overwrite it"),
        "{ran:?}"
    );
    assert_eq!(fs::read(&kept).expect("it is there"), b"mine");
    check(&rig.run(&[&call[..], &["--force"]].concat()), 0);
    assert!(
        fs::read(&kept)
            .expect("it is there")
            .starts_with(b"\x89PNG")
    );
}

#[test]
fn a_file_is_never_overwritten_in_a_folder_either() {
    let rig = Rig::new();
    for _ in 0..2 {
        check(&rig.run(&["call", "fixture.picture", "--out", "./"]), 0);
    }
    assert!(rig.work().join("picture.png").is_file());
    assert!(rig.work().join("picture-1.png").is_file());
}

#[test]
fn a_text_or_a_value_is_saved_where_there_is_nothing_else() {
    let rig = Rig::new();
    let ran = rig.run(&["call", "fixture.echo", "message=hi", "--out", "hi.txt"]);
    check(&ran, 0);
    assert_eq!(ran.text(), "");
    let saved = fs::read_to_string(rig.work().join("hi.txt"));
    assert_eq!(saved.expect("it is there"), "hi");
    check(&rig.run(&["call", "fixture.structured", "--out", "./"]), 0);
    let saved = fs::read_to_string(rig.work().join("structured.json")).expect("it is there");
    let saved: Value = serde_json::from_str(&saved).expect("it is JSON");
    assert_eq!(saved["city"], "Lisbon");
}

#[test]
fn bytes_go_through_a_pipe_as_they_are() {
    let rig = Rig::new();
    let ran = rig.run(&["read", "fixture", "note:///logo"]);
    check(&ran, 0);
    assert_eq!(ran.stdout, b"\x89PNG\r\n\x1a\n, and no more");
    let ran = rig.run(&["call", "fixture.rude"]);
    check(&ran, 0);
    assert!(ran.text().starts_with("\u{1b}[31m"), "a pipe obeys nothing");
    check(
        &rig.run(&["read", "fixture", "note:///logo", "--out", "."]),
        0,
    );
    assert!(rig.work().join("logo.png").is_file());
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let rig = Rig::new();
    let call = ["call", "fixture.long", "lines=200000"];
    let mut command = rig.command(&call);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdout = child.stdout.take().expect("it has an output");
    let mut first = [0; 6];
    stdout.read_exact(&mut first).expect("it writes");
    assert_eq!(&first, b"line 1");
    drop(stdout);
    let ran = finish(child);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(141), ""));
}

#[test]
fn no_configuration_is_no_trouble_for_a_wrong_name() {
    let ran = Rig::empty().run(&["call", "fixture.echo"]);
    check(&ran, 1);
    assert!(
        ran.stderr.starts_with("error: unknown server `fixture`\n"),
        "{ran:?}"
    );
}

/// A home in which the server `hand` has tools that the framework refuses.
fn by_hand() -> Rig {
    let rig = Rig::empty();
    let server = json!({"command": example("by_hand")});
    rig.configure(&json!({"mcpServers": {"hand": server}}));
    rig
}

#[test]
fn what_is_required_and_has_a_default_may_be_left_out() {
    let rig = by_hand();
    let ran = rig.run(&["call", "hand.messages", "url=x"]);
    check(&ran, 0);
    assert_eq!(ran.text(), "\"messages\" {\"url\":\"x\"}\n");
    let ran = rig.run(&["call", "hand.messages"]);
    check(&ran, 1);
    let said = "error: `url` is missing: string\n  \
                hint: messages(level?: \"error\" | \"info\" = \"info\", all?: boolean, url: string)\n  \
                hint: use --no-check to send the arguments as they are\n";
    assert_eq!(ran.stderr, said);
    let ran = rig.run(&["call", "hand.messages", "--no-check"]);
    check(&ran, 0);
    assert_eq!(ran.text(), "\"messages\" {}\n");
}

/// Runs a line that has the command in it.
#[cfg(unix)]
fn shell(rig: &Rig, line: &str) -> Ran {
    let line = format!("bowline() {{ '{BOWLINE}' \"$@\"; }}; {line}");
    let mut command = Command::new("sh");
    command
        .args(["-c", &line])
        .current_dir(rig.work())
        .env_clear()
        .envs(environment(&rig.home()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(command.spawn().expect("there is a shell"))
}

#[test]
#[cfg(unix)]
fn every_tool_that_is_listed_can_be_called() {
    let rig = by_hand();
    let listed = rig.run(&["list", "hand", "--json"]).json();
    let tools = listed["tools"].as_array().expect("a list");
    let names = tools.iter().filter_map(|tool| tool["name"].as_str());
    for name in names.filter(|name| *name != "messages") {
        let whole = format!("hand.{name}");
        let ran = rig.run(&["call", &whole, "a=1"]);
        check(&ran, 0);
        assert_eq!(ran.text(), format!("\"{name}\" {{\"a\":1}}\n"));
        // What is shown can be pasted into a shell.
        let shown = rig.run(&["list", &whole]);
        check(&shown, 0);
        let line = shown.text().lines().last().expect("a line").trim();
        let ran = shell(&rig, &format!("{line} a=2"));
        assert_eq!(ran.text(), format!("\"{name}\" {{\"a\":2}}\n"), "{line}");
    }
    let ran = rig.run(&["call", "hand.get(x)(a: 3)"]);
    assert_eq!(ran.text(), "\"get(x)\" {\"a\":3}\n", "{ran:?}");
    let ran = rig.run(&["call", "hand.\"get(x)\"(a: 3)", "--no-check"]);
    assert_eq!(ran.text(), "\"get(x)\" {\"a\":3}\n", "{ran:?}");
    let ran = rig.run(&["list", "hand.messages(1)"]);
    check(&ran, 1);
    assert!(ran.stderr.contains("no tool `messages(1)`"), "{ran:?}");
    let ran = rig.run(&["call", "hand.messages(x"]);
    check(&ran, 1);
    assert!(ran.stderr.contains("missing `)`"), "{ran:?}");
}

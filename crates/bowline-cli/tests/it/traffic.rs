//! What goes over the wire, and what is configured.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::Child,
};

use serde_json::{Value, json};

use crate::rig::{BOWLINE, Ran, Rig, example};

fn recording(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let path = folder.join(name).with_extension("jsonl");
    path.to_str().expect("the path is text").to_owned()
}

/// The lines of a file, as JSON.
fn lines(text: &str) -> Vec<Value> {
    let read = |line: &str| serde_json::from_str(line).expect("each line is JSON");
    text.lines().map(read).collect()
}

/// Runs the command against a server that answers from a recording.
fn run_on(name: &str, args: &[&str]) -> Ran {
    let file = recording(name);
    let server = ["--", BOWLINE, "replay", &file, "--serve"];
    Rig::empty().run(&[args, &server].concat())
}

#[test]
fn a_trace_goes_to_standard_error_and_leaves_the_result_alone() {
    let args = [
        "ping",
        "fixture",
        "--json",
        "--trace",
        "--protocol",
        "2025-11-25",
    ];
    let ran = Rig::new().run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["server"], "fixture");
    let sent = ran.stderr.lines().filter(|line| line.contains(" → {"));
    let received = ran.stderr.lines().filter(|line| line.contains(" ← {"));
    assert_eq!((sent.count(), received.count()), (3, 2), "{}", ran.stderr);
    assert!(ran.stderr.contains("revision 2025-11-25"), "{}", ran.stderr);
}

#[test]
fn a_recording_has_every_message_and_is_not_written_over() {
    let rig = Rig::new();
    let args = [
        "ping",
        "fixture",
        "--protocol",
        "2025-11-25",
        "--record",
        "it.jsonl",
    ];
    assert_eq!(rig.run(&args).code, Some(0));
    let path = rig.work().join("it.jsonl");
    let written = fs::read_to_string(&path).expect("it is there");
    let recorded = lines(&written);
    assert_eq!(recorded[0]["format"], 1);
    let events: Vec<&str> = recorded[1..]
        .iter()
        .map(|line| line["event"].as_str().expect("each has one"))
        .collect();
    let expected = [
        "up", "sent", "received", "settled", "sent", "sent", "received", "closed",
    ];
    assert_eq!(events, expected);
    assert_eq!(recorded[2]["message"]["method"], "initialize");

    let again = rig.run(&args);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("file already exists"), "{again:?}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), written);
}

#[test]
fn the_end_of_a_link_is_recorded_with_its_cause() {
    let rig = Rig::empty();
    let args = [
        "ping",
        "--record",
        "it.jsonl",
        "--",
        "sh",
        "-c",
        "echo nonsense; exit 3",
    ];
    let ran = rig.run(&args);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let written = fs::read_to_string(rig.work().join("it.jsonl")).expect("it is there");
    assert!(
        !written.contains("exit 3"),
        "arguments may hold keys: {written}"
    );
    let recorded = lines(&written);
    let of = |event: &str| recorded.iter().find(|line| line["event"] == event);
    assert_eq!(
        of("received").expect("it said something")["text"],
        "nonsense"
    );
    let down = of("down").expect("it ended")["text"].as_str();
    let down = down.expect("it has a cause");
    assert!(down.contains("exited with code 3"), "{down}");
}

#[test]
fn a_recording_answers_as_the_server_did_in_both_eras() {
    for name in ["session", "older"] {
        let file = recording(name);
        let ran = run_on(name, &["replay", &file, "--check", "--all", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["different"], 0);
        assert_eq!(ran.json()["skipped"], 0);
    }
}

/// A recording that is served over HTTP until this is dropped.
struct Served {
    server: Child,
    url: String,
}

impl Served {
    fn start(rig: &Rig, file: &str) -> Self {
        let mut command = rig.command(&["replay", file, "--serve", "--http", "127.0.0.1:0"]);
        let mut server = command.spawn().expect("the command starts");
        let stdout = server.stdout.take().expect("it has an output");
        let mut url = String::new();
        BufReader::new(stdout)
            .read_line(&mut url)
            .expect("it says where it is");
        let url = url.trim().to_owned();
        Self { server, url }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended by itself is as good.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_recording_is_served_over_http_in_both_eras() {
    for name in ["session", "older"] {
        let (rig, file) = (Rig::empty(), recording(name));
        let served = Served::start(&rig, &file);
        let ran = rig.run(&["replay", &file, "--check", "--all", "--json", &served.url]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["different"], 0);
    }
}

#[test]
fn news_of_a_recording_are_served_over_http_too() {
    let rig = Rig::empty();
    let served = Served::start(&rig, &recording("news"));
    let args = [
        "watch",
        &served.url,
        "note:///todo",
        "--count",
        "2",
        "--json",
    ];
    let ran = rig.run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(events(&ran), ["updated", "changed"]);
}

#[test]
fn a_recording_is_served_to_this_machine_only() {
    let args = [
        "replay",
        &recording("session"),
        "--serve",
        "--http",
        "0.0.0.0:0",
    ];
    let ran = Rig::empty().run(&args);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn a_live_server_is_compared_with_its_recording() {
    for (name, same) in [("session", 7), ("older", 3)] {
        let (rig, file) = (Rig::new(), recording(name));
        let args = ["replay", &file, "--check", "fixture", "--all", "--json"];
        let ran = rig.run(&args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["same"], same, "also with state of its own");
    }
}

#[test]
fn what_may_have_effects_is_not_done_again() {
    let (rig, file) = (Rig::new(), recording("session"));
    let ran = rig.run(&["replay", &file, "--check", "fixture", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let requests = ran.json()["requests"].clone();
    let verdicts: Vec<(&str, &str)> = requests
        .as_array()
        .expect("it is a list")
        .iter()
        .map(|it| {
            let text = |key: &str| it[key].as_str().unwrap_or_default();
            (text("request"), text("verdict"))
        })
        .collect();
    let expected = [
        ("server/discover", "same"),
        ("tools/call echo", "same"),
        ("tools/call add", "same"),
        ("tools/call greet", "skipped"),
        ("tools/call greet", "skipped"),
        ("resources/read note:///hello", "same"),
        ("tools/call nonsense", "skipped"),
    ];
    assert_eq!(verdicts, expected);
}

#[test]
fn differences_are_named_and_can_be_ignored() {
    let rig = Rig::new();
    let recorded = fs::read_to_string(recording("older")).expect("it is there");
    let changed = recorded.replace(r#""text": "hi""#, r#""text": "ho""#);
    assert_ne!(changed, recorded);
    rig.file("changed.jsonl", changed);
    let check = ["replay", "changed.jsonl", "--check", "fixture"];
    let ran = rig.run(&[&check[..], &["--json"]].concat());
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let requests = &ran.json()["requests"];
    let expected = json!([{"path": "content[0].text", "was": "ho", "is": "hi"}]);
    assert_eq!(requests[1]["differences"], expected);
    let ignoring = [&check[..], &["--ignore", "content[*].text"]].concat();
    assert_eq!(rig.run(&ignoring).code, Some(0));
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let (rig, file) = (Rig::empty(), recording("older"));
    let args = [
        "replay",
        &file,
        "--check",
        "--timeout",
        "200ms",
        "--",
        "sleep",
        "60",
    ];
    let ran = rig.run(&args);
    assert_eq!(ran.code, Some(124), "{ran:?}");
}

/// The events of lines that `watch --json` printed.
fn events(ran: &Ran) -> Vec<String> {
    lines(ran.text())
        .iter()
        .map(|line| line["event"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn news_are_printed_as_they_come() {
    let args = ["watch", "note:///todo", "--read", "--count", "4", "--json"];
    let ran = run_on("news", &args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        events(&ran),
        ["updated", "content", "changed", "log", "told"]
    );
    let news = lines(ran.text());
    let text = &news[1]["result"]["contents"][0]["text"];
    assert_eq!(*text, "Buy milk.\nCall Ada.\n");
    assert_eq!(news[3]["params"]["data"], "nearly full");
    assert!(ran.text().contains(r#""params":{"b":1,"a":2}"#), "verbatim");
}

/// A server in the words of a shell, which goes after its first piece of news.
const SHORT_LIVED: &str = r#"
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case "$line" in
    *'"initialize"'*)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"short","version":"1"}}}';;
    *'resources/subscribe'*)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{}}'
        echo '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}'
        exit 7;;
    esac
done
"#;

#[test]
fn a_fall_and_the_return_are_news() {
    let rig = Rig::empty();
    let watch = [
        "watch",
        "a:b",
        "--protocol",
        "2025-11-25",
        "--count",
        "2",
        "--json",
    ];
    let server = ["--", "sh", "-c", SHORT_LIVED];
    let ran = rig.run(&[&watch[..], &server].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let events = events(&ran);
    assert_eq!(events[..3], ["updated", "fell", "back"]);
    let fell = &lines(ran.text())[1];
    let why = fell["why"].as_str().unwrap_or_default();
    assert!(why.contains("code 7"), "{why}");
}

#[test]
fn a_level_is_set_where_the_revision_has_levels() {
    let ran = run_on("news", &["log-level", "debug", "--count", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.text().ends_with(" log      debug {\"free\":3}\n"),
        "{ran:?}"
    );
    let fixture = example("fixture");
    let fixture = fixture.to_str().expect("the path is text");
    let ran = Rig::empty().run(&["log-level", "info", "--for", "1ms", "--", fixture]);
    assert_eq!(
        ran.code,
        Some(0),
        "one of two eras is asked in the older: {ran:?}"
    );
}

#[test]
fn servers_are_added_and_removed_and_comments_stay() {
    let rig = Rig::empty();
    let before =
        "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"} // first\n  }\n}\n";
    let file = rig.file("bowline.json", before);
    let add = [
        "config",
        "add",
        "b",
        "--project",
        "--env",
        "K=${K}",
        "--",
        "y",
        "--z",
    ];
    let ran = rig.run(&add);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = fs::read_to_string(&file).expect("it is there");
    assert!(
        text.contains("// mine") && text.contains("// first"),
        "{text}"
    );
    let ran = rig.run(&["config", "path", "--json"]);
    let places = ran.json();
    let places = places.as_array().expect("a list");
    let project = places.iter().find(|place| place["scope"] == "project");
    assert_eq!(project.expect("there is one")["exists"], true);
    assert_eq!(rig.run(&add).code, Some(1), "there is one of this name");
    assert_eq!(rig.run(&["config", "remove", "b"]).code, Some(0));
    let after = fs::read_to_string(&file).expect("it is there");
    assert_eq!(after, before);
}

#[test]
fn servers_of_others_are_copied_with_their_references() {
    let rig = Rig::empty();
    let codex = rig.home().join(".codex");
    fs::create_dir_all(&codex).expect("it can be made");
    let servers = "[mcp_servers.docs]\nurl = 'https://a.test/mcp'\n\
                   bearer_token_env_var = 'DOCS_TOKEN'\nhttp_headers = { X = 's3cret' }\n";
    fs::write(codex.join("config.toml"), servers).expect("it can be written");
    let dry = rig.run(&["config", "import", "codex", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(dry.stderr.contains("in plain text: X"), "{dry:?}");
    assert!(dry.stderr.contains("DOCS_TOKEN"), "it is not set: {dry:?}");
    let own = rig.home().join(".config/bowline/bowline.json");
    assert!(!own.exists(), "nothing is written");
    let ran = rig.run(&["config", "import"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.text().contains("s3cret"), "{ran:?}");
    let text = fs::read_to_string(own).expect("it was made");
    let written: Value = serde_json::from_str(&text).expect("it is JSON");
    let headers = &written["mcpServers"]["docs"]["headers"];
    assert_eq!(headers["Authorization"], "Bearer ${DOCS_TOKEN}");
    assert_eq!(headers["X"], "s3cret");
    let again = rig.run(&["config", "import", "--json"]);
    assert_eq!(again.json()["skipped"][0]["name"], "docs");
}

#[test]
fn every_shell_has_completions_and_every_command_a_page() {
    let rig = Rig::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = rig.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{shell}");
        assert!(ran.text().contains("log-level"), "{shell}");
    }
    let ran = rig.run(&["man"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.text().contains(".TH bowline-replay 1"),
        "all pages are there"
    );
    assert_eq!(rig.run(&["man", "--dir", "man"]).code, Some(0));
    let page = rig.work().join("man/bowline-config-add.1");
    assert!(page.is_file());
}

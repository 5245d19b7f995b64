//! The server that is built in, the tour, and looking at many servers.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use bowline::{
    Client, RawJson,
    client::{ClientBuilder, ToolCallOutcome},
    model::{
        CreateMessageResult, ElicitResult, InputRequests, InputResponses, Role, SamplingBlock,
    },
    transport::{ChildProcess, ConnectionErrorKind},
};
use serde_json::{Value, json};

use crate::rig::{BOWLINE, Ran, Rig, environment, example, finish};

#[test]
fn the_tour_goes_as_told() {
    let ran = Rig::empty().run(&["demo", "--fast"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = [
        "demo asks you:",
        "The number of the booking is 1001.",
        "terminated by signal 9",
        "the last line of its standard error was kept: \"demo: counting,",
        "session 2",
        "the clock is still subscribed to",
        "still here",
    ];
    for told in told {
        assert!(ran.text().contains(told), "{told}: {}", ran.text());
    }
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_tour_is_one_document_for_programs() {
    let tour = Rig::empty().run(&["demo", "--json"]).json();
    assert_eq!(tour["ok"], true);
    let killed = &tour["scenes"][6];
    assert_eq!(killed["title"], "Kill the server in the middle of a call");
    assert_eq!(killed["commands"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_server_of_ones_own_is_reached_over_stdio() {
    let rig = Rig::empty();
    let ran = rig.run(&[
        "status", "--json", "--", BOWLINE, "serve", "demo", "--stdio",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let server = &ran.json()["servers"][0];
    assert_eq!(server["state"], "connected");
    assert_eq!(server["server"]["name"], "demo");
    assert!(server["counts"]["tools"].as_u64() >= Some(8), "{server}");
}

#[cfg(unix)]
#[test]
fn a_server_of_ones_own_is_reached_over_http_until_ctrl_c() {
    let rig = Rig::empty();
    let (serving, url) = serve(&rig);
    let ran = rig.run(&["doctor", &url]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.text()
            .ends_with(&format!("no problems found with {url}\n")),
        "{ran:?}"
    );
    assert_eq!(interrupt(serving).code, Some(0));
    let ran = rig.run(&["status", &url]);
    assert_eq!(ran.code, Some(4), "nobody is there any more: {ran:?}");
}

/// Serves over HTTP, on any port. Gives where.
#[cfg(unix)]
fn serve(rig: &Rig) -> (Child, String) {
    let mut command = rig.command(&["serve", "demo", "--http", "0"]);
    let mut serving = command.stderr(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    let output = serving.stdout.as_mut().expect("it has an output");
    let mut output = BufReader::new(output);
    output.read_line(&mut line).expect("it says where it is");
    (serving, line.trim().to_owned())
}

#[cfg(unix)]
fn interrupt(child: Child) -> Ran {
    let process = i32::try_from(child.id()).expect("it is a number of a process");
    let process = rustix::process::Pid::from_raw(process).expect("it is one");
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it is there");
    finish(child)
}

/// A client of a demo server that is a process of its own.
async fn connect(rig: &Rig, builder: ClientBuilder) -> Client {
    let mut server = ChildProcess::new(BOWLINE)
        .args(["serve", "demo", "--stdio"])
        .env_clear();
    for (name, value) in environment(&rig.home()) {
        server = server.env(name, value);
    }
    builder.connect(server).await.expect("it is there")
}

#[tokio::test]
async fn a_crash_is_told_with_the_last_words() {
    let rig = Rig::empty();
    let client = connect(&rig, Client::builder()).await;
    let words = json!({"last_words": "that was it"});
    let error = client.tools().call("crash", words).await;
    let error = error.expect_err("it crashed");
    let cause = error.connection_error().expect("the connection fell");
    let exited = ConnectionErrorKind::Exited {
        code: Some(70),
        signal: None,
    };
    assert_eq!(*cause.kind(), exited);
    assert!(
        cause
            .detail()
            .is_some_and(|tail| tail.contains("that was it"))
    );
    client.stop().await;
}

#[tokio::test]
async fn a_conversation_goes_on_in_another_process() {
    let rig = Rig::empty();
    let key = rig.home().join(".local/state/bowline/demo.key");
    let client = connect(&rig, able()).await;
    let echo = client.tools().call("echo", json!({"message": "hi"}));
    assert_eq!(echo.await.expect("it echoes").all_text(), "hi");
    assert!(!key.exists(), "who asks nothing writes nothing");
    let call = client
        .tools()
        .call("book_flight", json!({"destination": "Oslo"}));
    let mut turn = call.suspend_on_input().await.expect("it asks");
    client.stop().await;
    check_key(&key);
    for _ in 0..3 {
        let ToolCallOutcome::InputRequired(suspended) = turn else {
            break;
        };
        // Every answer comes to a process that has not heard the question.
        let client = connect(&rig, able()).await;
        let answers = answers(suspended.questions());
        let resumed = client.tools().resume(suspended, &answers);
        turn = resumed.suspend_on_input().await.expect("it goes on");
        client.stop().await;
    }
    let ToolCallOutcome::Done(result) = turn else {
        panic!("it asks on: {turn:?}");
    };
    let text = result.all_text();
    assert!(text.starts_with("Booked Swift-2 to Oslo"), "{text}");
}

/// A client that could be asked, and is not: its calls are suspended.
fn able() -> ClientBuilder {
    Client::builder()
        .on_elicit(async |_| ElicitResult::cancel())
        .on_sample(async |_| {
            let text = SamplingBlock::text("nothing");
            Ok(CreateMessageResult::new(Role::Assistant, text, "none"))
        })
}

/// What the user and the model answer to questions under these keys.
fn answers(questions: &InputRequests) -> InputResponses {
    let questions = serde_json::to_value(questions).expect("they are JSON");
    let questions = questions.as_object().expect("they have keys").iter();
    let answers = questions.map(|(key, question)| {
        let message = question["params"]["message"].as_str();
        let answer = match (question["method"].as_str(), message) {
            (Some("sampling/createMessage"), _) => json!({
                "role": "assistant",
                "content": {"type": "text", "text": "A flight."},
                "model": "none",
            }),
            (_, Some(message)) if message.contains("Which one?") => {
                json!({"action": "accept", "content": {"flight": "Swift-2", "seat": "any"}})
            }
            _ => json!({"action": "accept", "content": {"confirmed": true}}),
        };
        let answer = RawJson::encode(&answer).expect("it is JSON");
        (key.clone(), answer)
    });
    answers.collect()
}

#[track_caller]
fn check_key(key: &std::path::Path) {
    let about = fs::metadata(key).expect("the key was kept");
    assert_eq!(about.len(), 32);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
}

/// A home with servers of all kinds.
fn mixed() -> Rig {
    let rig = Rig::empty();
    let dies = json!({"command": "sh", "args": ["-c", "printf '\\033[2Jno token' >&2; exit 3"]});
    rig.configure(&json!({"mcpServers": {
        "fixture": {"command": example("fixture")},
        "dies": dies,
        "off": {"command": "off", "disabled": true},
        "nothing": {"cmd": "typo"},
    }}));
    let hidden = json!({"mcpServers": {"fixture": {"command": "other"}}});
    let folder = rig.home().join(".cursor");
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(folder.join("mcp.json"), hidden.to_string()).expect("it can be written");
    rig
}

fn states(inventory: &Value) -> Vec<(&str, &str)> {
    let servers = inventory["servers"].as_array().expect("there are servers");
    servers
        .iter()
        .map(|it| {
            let text = |key: &str| it[key].as_str().unwrap_or_default();
            (text("name"), text("state"))
        })
        .collect()
}

#[test]
fn servers_are_listed_with_how_they_are() {
    let rig = mixed();
    let ran = rig.run(&["servers", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let inventory = ran.json();
    let expected = [
        ("dies", "unreachable"),
        ("fixture", "connected"),
        ("fixture", "hidden"),
        ("off", "switched off"),
        ("demo", "connected"),
    ];
    let mut found = states(&inventory);
    found[..2].sort_unstable();
    assert_eq!(found, expected);
    let problem = &inventory["problems"][0];
    assert_eq!(problem["server"], "nothing");
    assert_eq!(problem["line"], 1);
    assert_eq!(problem["message"], "command or url is missing");
}

#[test]
fn what_servers_write_does_not_steer_the_terminal() {
    let rig = mixed();
    for verb in ["servers", "status", "doctor"] {
        let args: &[&str] = match verb {
            "servers" => &["servers"],
            verb => &[verb, "dies"],
        };
        let ran = rig.run(args);
        let all = format!("{}{}", ran.text(), ran.stderr);
        assert!(all.contains("no token"), "{verb}: {all}");
        assert!(!all.contains('\u{1b}'), "{verb}: {all:?}");
    }
}

#[test]
fn looking_around_starts_nothing_that_came_with_a_project() {
    let rig = Rig::empty();
    let mark = rig.work().join("started");
    let command = format!("touch {}; exit 1", mark.display());
    let servers = json!({"mcpServers": {"theirs": {"command": "sh", "args": ["-c", command]}}});
    rig.file(".mcp.json", servers.to_string());
    for verb in [&["servers"][..], &["status"], &["search", "x"], &["sync"]] {
        let ran = rig.run(verb);
        assert!(!mark.exists(), "{verb:?}");
        let all = format!("{}{}", ran.text(), ran.stderr);
        assert!(all.contains("bowline config trust"), "{all}");
    }
    rig.run(&["servers", "--trust-project"]);
    assert!(mark.exists());
}

#[test]
fn a_search_goes_through_all_servers() {
    let rig = mixed();
    let ran = rig.run(&["search", "echo", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let results = ran.json();
    let first = &results["results"][0];
    assert_eq!(first["server"], "fixture", "{results}");
    assert!(first["definition"]["inputSchema"].is_object(), "{first}");
    assert!(ran.stderr.contains("not searched: dies"), "{}", ran.stderr);
}

#[track_caller]
fn examine(args: &[&str], code: i32, fault: &Value) -> Value {
    let rig = mixed();
    let mut all = vec!["doctor", "--json"];
    all.extend(args);
    let ran = rig.run(&all);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    let chart = ran.json();
    assert_eq!(chart["fault"], *fault, "{chart}");
    chart
}

fn state_of<'a>(chart: &'a Value, layer: &str) -> Option<&'a str> {
    let steps = chart["steps"].as_array().into_iter().flatten();
    // Of a layer with several steps, the last one.
    let mut steps = steps.rev().filter(|step| step["layer"] == layer);
    steps.next()?["state"].as_str()
}

#[test]
fn the_first_layer_that_fails_explains_the_rest() {
    let chart = examine(&["fixture"], 0, &Value::Null);
    assert_eq!(state_of(&chart, "configuration"), Some("warning"));
    assert_eq!(state_of(&chart, "standard error"), Some("ok"));
    examine(&["nothing"], 1, &json!("configuration"));
    examine(&["--", "./no/such/program"], 4, &json!("command"));
    let chart = examine(&["dies"], 4, &json!("start"));
    assert_eq!(state_of(&chart, "command"), Some("ok"));
    assert_eq!(state_of(&chart, "session"), Some("skipped"));
    examine(
        &["--timeout", "0.3", "--", "sleep", "60"],
        124,
        &json!("session"),
    );
    examine(&["http://127.0.0.1:1/mcp"], 4, &json!("connection"));
    examine(&["http://me:secret@127.0.0.1/"], 1, &json!("address"));
}

#[cfg(unix)]
#[test]
fn encryption_that_is_not_there_is_what_is_wrong() {
    let rig = Rig::empty();
    let (serving, url) = serve(&rig);
    examine(&[&url.replace("http:", "https:")], 4, &json!("TLS"));
    examine(&[&url], 0, &Value::Null);
    interrupt(serving);
}

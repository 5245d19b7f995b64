//! The examples run, and print what their readers expect; so does the travel agency,
//! which SDKs are tested with elsewhere.

use std::process::Command;

use bowline::{Client, transport::ChildProcess};
use serde_json::{Value, json};

use crate::process::example;

/// What an example prints, if it succeeds.
fn output_of(name: &str) -> String {
    let output = Command::new(example(name)).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{name}: {}\n{stderr}",
        output.status
    );
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn asking_gives_the_same_answer_in_both_eras() {
    let question = "How would you like your dumplings?\n";
    let answer = "Order 42: 2 × dumplings with sauce\n";
    let expected = format!("{question}2025-11-25: {answer}{question}2026-07-28: {answer}");
    assert_eq!(output_of("asking"), expected);
}

#[test]
fn http_server_is_called() {
    assert_eq!(output_of("http_server"), "Hello over HTTP!\n");
}

#[test]
fn list_tools_prints_the_tools_of_a_server() {
    let output = Command::new(example("list_tools"))
        .arg(example("server"))
        .output()
        .expect("it starts");
    let printed = String::from_utf8(output.stdout).expect("it prints text");
    assert!(output.status.success(), "{printed}");
    for tool in ["add", "count"] {
        assert!(printed.contains(tool), "{tool} is missing: {printed}");
    }
}

#[test]
fn many_servers_are_used_although_one_is_down() {
    let output = output_of("many_servers");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[..2], ["mail__search", "notes__search"]);
    assert!(lines[2].starts_with("broken: "), "{output}");
    assert_eq!(lines[3..], ["found in mail"]);
}

#[test]
fn own_transport_carries_a_call() {
    assert_eq!(output_of("own_transport"), "Hello through a pipe!\n");
}

#[test]
fn protected_server_lets_in_who_has_a_token() {
    let output = output_of("protected_server");
    let (refused, served) = output.split_once('\n').expect("there are two lines");
    assert!(refused.starts_with("Without a token: "), "{output}");
    assert_eq!(served, "With a token: You are ada\n");
}

#[tokio::test]
async fn server_offers_its_tools() {
    let transport = ChildProcess::new(example("server"));
    let client = Client::builder()
        .connect(transport)
        .await
        .expect("it starts");
    let sum = client.tools().call("add", json!({"a": 1.5, "b": 2}));
    assert_eq!(sum.await.expect("it adds").all_text(), "3.5");
    let counted = client
        .tools()
        .call("count", json!({"text": "one two\nthree"}));
    let counted = counted.await.expect("it counts").structured_content;
    let expected = json!({"characters": 13, "words": 3, "lines": 2});
    assert_eq!(
        counted
            .expect("it is structured")
            .decode::<Value>()
            .expect("JSON"),
        expected
    );
    client.stop().await;
}

#[test]
fn testing_passes() {
    assert_eq!(output_of("testing"), "ok\n");
}

/// The flights that a client of the travel agency finds.
async fn flights(client: &Client) -> Value {
    // The other tools ask, and this client cannot answer.
    let tools = client.tools().list().await.expect("it has tools");
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["search_flights"]);
    let search = client
        .tools()
        .call("search_flights", json!({"destination": "Oslo"}));
    let found = search.await.expect("it searches").structured_content;
    let mut found: Value = found
        .expect("it is structured")
        .decode()
        .expect("it is JSON");
    found["flights"].take()
}

#[tokio::test]
async fn travel_serves_over_standard_streams() {
    let client = Client::builder().connect(ChildProcess::new(example("travel")));
    let client = client.await.expect("it starts");
    let flights = flights(&client).await;
    assert_eq!(flights[2]["id"], "Swift-2", "{flights}");
    client.stop().await;
}

#[cfg(all(feature = "http-client", feature = "http-server"))]
#[tokio::test]
async fn travel_serves_over_http() {
    use bowline::transport::Http;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    let mut process = tokio::process::Command::new(example("travel"))
        .arg("--http")
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let printed = process.stdout.take().expect("it is piped");
    let url = BufReader::new(printed).lines().next_line().await;
    let url = url.expect("it is text").expect("it prints its URL");
    let http = Http::new(&url).expect("it is a URL");
    let client = Client::builder().connect(http).await.expect("it connects");
    let flights = flights(&client).await;
    assert_eq!(flights[0]["id"], "Gull-2", "{flights}");
    client.stop().await;
    process.kill().await.expect("it still serves");
}

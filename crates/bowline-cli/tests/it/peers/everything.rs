//! `@modelcontextprotocol/server-everything`, by every way that it has.

use serde_json::{Value, json};

use super::{node, run, served::Served, told, value};
use crate::rig::Rig;

const DOCUMENT: &str = "demo://resource/static/document/features.md";

fn over_pipes() -> Vec<String> {
    vec![node("mcp-server-everything")]
}

#[test]
fn its_tools_are_listed_and_called_over_http() {
    let (rig, served) = (Rig::empty(), Served::everything("streamableHttp"));
    let url = &*served.url("/mcp");
    let listed = told(&rig, &["list", url], &[]);
    assert!(
        listed.contains("get-sum(a: number, b: number)\n"),
        "{listed}"
    );
    let weather = "get-structured-content(location: \"New York\" | \"Chicago\" | \"Los Angeles\")\n    \
         -> { temperature: number, conditions: string, humidity: number }\n";
    assert!(listed.contains(weather), "{listed}");
    let raw = value(&rig, &["raw", url, "tools/list"], &[]);
    let listed = value(&rig, &["list", url], &[]);
    assert_eq!(listed["tools"], raw["tools"], "as the server gave it");
    let sum = told(&rig, &["call", url, "get-sum", "a=2.5", "b=40"], &[]);
    assert_eq!(sum, "The sum of 2.5 and 40 is 42.5.\n");
    let said = "message=quotes \" and \\ and\nlines, ünïcode 🪢";
    let echoed = told(&rig, &["call", url, "echo", said], &[]);
    assert_eq!(echoed, "Echo: quotes \" and \\ and\nlines, ünïcode 🪢\n");
    let args = ["call", url, "get-structured-content", "location=Chicago"];
    let structured = value(&rig, &args, &[]);
    assert_eq!(structured["structuredContent"]["temperature"], 36);
    refusals(&rig, url);
}

/// What does not fit the schema does not reach the server, unless that is
/// wanted.
fn refusals(rig: &Rig, url: &str) {
    let args = ["call", url, "get-structured-content", "location=chicago"];
    let ran = run(rig, &args, &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("did you mean `Chicago`?"), "{ran:?}");
    let sent = ["call", url, "get-sum", "a=1", "b=x", "--no-check"];
    let ran = run(rig, &sent, &[]);
    assert_eq!(ran.code, Some(5), "now the server says no: {ran:?}");
    assert!(ran.stderr.contains("get-sum failed"), "{ran:?}");
}

#[test]
fn its_resources_and_prompts_are_read_over_http() {
    let (rig, served) = (Rig::empty(), Served::everything("streamableHttp"));
    let url = &*served.url("/mcp");
    let listed = told(&rig, &["resources", url], &[]);
    assert_eq!(listed.lines().count(), 7, "{listed}");
    assert!(listed.contains(DOCUMENT), "{listed}");
    let read = told(&rig, &["read", url, DOCUMENT], &[]);
    assert!(read.starts_with("# Everything Server"), "{read}");
    let templates = value(&rig, &["templates", url], &[]);
    assert_eq!(
        templates["resourceTemplates"][0]["uriTemplate"],
        "demo://resource/dynamic/text/{resourceId}"
    );
    let args = ["read", url, "demo://resource/dynamic/blob/7"];
    let blob = value(&rig, &args, &[]);
    assert!(blob["contents"][0]["blob"].is_string(), "{blob}");
    let bytes = told(&rig, &args, &[]);
    assert!(bytes.starts_with("Resource 7: This is a base64 blob"));
    let prompts = told(&rig, &["prompts", url], &[]);
    assert!(prompts.contains("args-prompt(city, state?)\n"), "{prompts}");
    let args = ["prompt", url, "args-prompt", "city=Porto"];
    let filled = told(&rig, &args, &[]);
    assert_eq!(filled, "[user]\nWhat's weather in Porto?\n");
    let completed = |words: &[&str]| {
        let args = [&["complete", url, "completable-prompt"], words].concat();
        told(&rig, &args, &[])
    };
    assert_eq!(completed(&["department=E"]), "Engineering\n");
    let names = completed(&["department=Engineering", "name="]);
    assert_eq!(names, "Alice\nBob\nCharlie\n", "by what came before");
}

#[test]
fn pictures_are_saved_and_links_are_shown() {
    let (rig, server) = (Rig::empty(), over_pipes());
    let ran = run(
        &rig,
        &["call", "get-tiny-image", "--out", "logo.png"],
        &server,
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let saved = std::fs::read(rig.work().join("logo.png")).expect("it was saved");
    assert!(saved.starts_with(b"\x89PNG"), "{} bytes", saved.len());
    let links = told(&rig, &["call", "get-resource-links", "count=2"], &server);
    let links: Vec<&str> = links.lines().skip(1).collect();
    assert_eq!(links.len(), 2, "{links:?}");
    assert!(links[1].starts_with("demo://resource/dynamic/text/2 ("));
}

#[test]
fn what_it_asks_is_answered() {
    let (rig, server) = (Rig::empty(), over_pipes());
    let args = [
        "call",
        "trigger-elicitation-request",
        "--answer",
        "name=Ada",
        "--answer",
        "integer=7",
    ];
    let text = told(&rig, &args, &server);
    assert!(text.contains("- Name: Ada\n"), "{text}");
    assert!(text.contains("- Favorite Integer: 7\n"), "{text}");
    let args = [
        "call",
        "trigger-sampling-request",
        "prompt=knots",
        "--sampling-command",
        "echo made fast",
    ];
    let text = told(&rig, &args, &server);
    assert!(text.contains("made fast"), "{text}");
}

#[test]
fn it_is_watched_and_logs() {
    let (rig, server) = (Rig::empty(), over_pipes());
    // Four lists of tools, and then that it noticed the subscription.
    let ran = run(
        &rig,
        &["watch", DOCUMENT, "--count", "5", "--json"],
        &server,
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let news: Vec<Value> = ran
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    assert_eq!(news.len(), 5, "{ran:?}");
    assert!(news.iter().any(|it| it["event"] == "changed"), "{ran:?}");
    let log = news.iter().find(|it| it["event"] == "log");
    let log = log.expect("it logs").to_string();
    assert!(log.contains(DOCUMENT), "{log}");
}

#[test]
fn it_is_well_by_every_way() {
    let (http, sse) = (
        Served::everything("streamableHttp"),
        Served::everything("sse"),
    );
    let rig = Rig::empty();
    rig.configure(&json!({"mcpServers": {
        "pipes": {"command": node("mcp-server-everything")},
        "http": {"url": http.url("/mcp")},
        "sse": {"url": sse.url("/sse")},
    }}));
    for (name, layer) in [("pipes", "start"), ("http", "HTTP"), ("sse", "HTTP")] {
        let chart = value(&rig, &["doctor", name], &[]);
        assert_eq!(chart["fault"], Value::Null, "{chart}");
        let steps = chart["steps"].as_array().expect("there are steps");
        let step = |layer: &str| steps.iter().find(|step| step["layer"] == layer);
        assert_eq!(step(layer).map(|step| &step["state"]), Some(&json!("ok")));
        assert_eq!(step("tools").map(|step| &step["state"]), Some(&json!("ok")));
        let echoed = told(&rig, &["call", &format!("{name}.echo"), "message=hi"], &[]);
        assert_eq!(echoed, "Echo: hi\n");
    }
}

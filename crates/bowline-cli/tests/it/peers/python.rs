//! Servers on the Python SDK, over pipes and over HTTP.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::json;

use super::{run, script, served::Served, told, value};
use crate::rig::{Rig, finish};

#[test]
fn tools_that_ask_are_answered_in_both_eras() {
    let (rig, served) = (Rig::empty(), Served::python("highlevel_server", "stream"));
    let url = &*served.url("/mcp");
    for era in ["2025-11-25", "2026-07-28"] {
        let asked = ["call", url, "book", "flight=B1", "--protocol", era];
        let answers = ["--answer", "row=3", "--answer", "agreed=yes"];
        let booked = told(&rig, &[&asked[..], &answers].concat(), &[]);
        assert_eq!(booked, "B1: row 3, window, agreed\n", "{era}");
        let survey = ["call", url, "survey", "text=knots", "--protocol", era];
        let model = ["--sampling-command", "echo they hold", "--root", "."];
        let said = told(&rig, &[&survey[..], &model].concat(), &[]);
        assert!(said.contains("says they hold; roots: file:///"), "{said}");
    }
}

#[test]
fn results_and_failures_are_told_apart() {
    let (rig, served) = (Rig::empty(), Served::python("highlevel_server", "json"));
    let url = &*served.url("/mcp");
    let sum = value(&rig, &["call", url, "add", "a=2", "b=3"], &[]);
    let expected = json!({"total": 5, "terms": [2, 3]});
    assert_eq!(sum["structuredContent"], expected);
    let ran = run(&rig, &["call", url, "fail", "why=no rope"], &[]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stderr.contains("no rope"), "{ran:?}");
    let ran = rig.run(&["call", url, "hang", "--timeout", "1"]);
    assert_eq!(ran.code, Some(124), "{ran:?}");
    let args = ["complete", url, "greet", "name=Ada", "manner=w"];
    assert_eq!(told(&rig, &args, &[]), "warmly\nwordlessly\nwonderfully\n");
    let read = told(&rig, &["read", url, "note://tomorrow"], &[]);
    assert_eq!(
        read, "nothing about tomorrow",
        "by the template, and as it is"
    );
}

#[test]
fn two_endpoints_of_an_older_server_are_found() {
    let (rig, served) = (Rig::empty(), Served::python("highlevel_server", "sse"));
    let url = &*served.url("/sse");
    let text = told(&rig, &["call", url, "count", "steps=2"], &[]);
    assert_eq!(text, "counted to 2\n");
}

#[test]
fn a_note_is_watched_while_somebody_writes_it() {
    let (rig, served) = (Rig::empty(), Served::python("highlevel_server", "stream"));
    let url = &*served.url("/mcp");
    let args = ["watch", url, "note://today", "--read", "--count", "1"];
    let mut command = rig.command(&args);
    let mut watching = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let remarks = watching.stderr.take().expect("a pipe");
    let first = BufReader::new(remarks).lines().next();
    let first = first.and_then(Result::ok).unwrap_or_default();
    assert!(first.starts_with("watching "), "{first}");
    let args = ["call", url, "write", "name=today", "text=tie it"];
    told(&rig, &args, &[]);
    let ran = finish(watching);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.text().contains("updated  note://today"), "{ran:?}");
    assert!(
        ran.text().contains("tie it"),
        "with what it says now: {ran:?}"
    );
}

#[test]
fn a_server_that_dies_has_last_words() {
    let (rig, server) = (Rig::empty(), script("highlevel_server.py"));
    let ran = run(&rig, &["call", "die", "code=7"], &server);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("exited with code 7"), "{ran:?}");
    assert!(ran.stderr.contains("dying with 7"), "{ran:?}");
}

#[test]
fn pages_and_questions_of_other_methods_are_followed() {
    let (rig, server) = (Rig::empty(), script("lowlevel_server.py"));
    let tools = value(&rig, &["list"], &server);
    assert_eq!(
        tools["tools"].as_array().map(Vec::len),
        Some(7),
        "of three pages"
    );
    let args = ["read", "bell://one", "--answer", "name=Ada"];
    assert_eq!(told(&rig, &args, &server), "It tolls for Ada.");
    let args = ["prompt", "greet", "--answer", "name=Ada"];
    assert_eq!(told(&rig, &args, &server), "[user]\nGreet Ada.\n");
}

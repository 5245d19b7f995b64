//! One request over HTTP, on a connection of its own that may break.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::super::rig::{Round, request};

/// What a client hears of a request.
pub(super) enum Heard {
    Answer(Round),
    /// The node died, or the connection broke.
    CutOff,
    /// The client did not wait.
    Left,
    /// There is no node.
    Nobody,
}

/// Calls a tool of the node at this address.
pub(super) async fn ask(address: SocketAddr, params: &Value) -> Heard {
    let Ok(mut stream) = TcpStream::connect(address).await else {
        return Heard::Nobody;
    };
    let body = request(1, "tools/call", params).to_string();
    let name = params["name"].as_str().expect("a tool");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         accept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
         mcp-name: {name}\r\n\r\n",
        body.len()
    );
    let sent = stream.write_all(format!("{head}{body}").as_bytes()).await;
    let mut read = Vec::new();
    if sent.is_err() || stream.read_to_end(&mut read).await.is_err() {
        return Heard::CutOff;
    }
    let answer = whole(&String::from_utf8_lossy(&read)).and_then(|body| frame(&body));
    match answer {
        Some(frame) => Heard::Answer(Round::read(&frame)),
        None => Heard::CutOff,
    }
}

/// The body of an answer, if all of it came.
fn whole(answer: &str) -> Option<String> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let head = head.to_ascii_lowercase();
    if !head.contains("transfer-encoding: chunked") {
        let length = head
            .lines()
            .find_map(|it| it.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.parse().ok())?;
        return (body.len() == length).then(|| body.to_owned());
    }
    let (mut all, mut rest) = (String::new(), body);
    loop {
        let (size, more) = rest.split_once("\r\n")?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(all);
        }
        all += more.get(..size)?;
        rest = more.get(size..)?.strip_prefix("\r\n")?;
    }
}

/// The response, which is all, or the one event that has an id.
fn frame(body: &str) -> Option<Value> {
    let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let all = std::iter::once(body).chain(events);
    let mut frames = all.filter_map(|json| serde_json::from_str::<Value>(json).ok());
    frames.find(|frame| frame.get("id").is_some())
}

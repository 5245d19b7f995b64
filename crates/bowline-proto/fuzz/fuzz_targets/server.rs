//! Frames of a hostile client: the server's machine neither panics nor keeps
//! anything once the link is gone.
//!
//! The input is cut into lines, which are frames; the first byte chooses how the
//! link begins, and whether the host answers.

#![no_main]

use bowline_proto::{
    Instant,
    jsonrpc::{RawJson, scan},
    server::{Config, Connection, ConnectionStats, Event, Input, Output, RequestKey},
};
use libfuzzer_sys::fuzz_target;

const OPENINGS: [&str; 4] = [
    "",
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"f","version":"0"}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"f","version":"0"}}}"#,
    r#"{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
];
const CAPABILITIES: &str = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"completions":{}}"#;

fuzz_target!(|data: &[u8]| {
    let Some((choice, frames)) = data.split_first() else {
        return;
    };
    let mut config = Config::new("fuzz", "0");
    config.capabilities = serde_json::from_str(CAPABILITIES).expect("capabilities");
    config.max_requests = 8;
    let mut connection = Connection::new(config);
    let now = Instant::ORIGIN;
    let opening = OPENINGS[usize::from(choice % 4)];
    if !opening.is_empty() {
        connection.handle(now, Input::Frame(opening.as_bytes().into()));
        drain(&mut connection);
    }
    let answers = choice & 4 != 0;
    for frame in frames.split(|byte| *byte == b'\n') {
        connection.handle(now, Input::Frame(frame.to_vec().into()));
        for request in drain(&mut connection) {
            connection.progress(request, 1, None, None);
            if answers {
                let empty = RawJson::from_string("{}".to_owned()).expect("JSON");
                connection.respond(now, request, empty);
            }
        }
        drain(&mut connection);
    }
    connection.handle(now, Input::Closed);
    drain(&mut connection);
    assert_eq!(connection.stats(), ConnectionStats::default());
});

/// Checks that everything sent is a message; gives the requests handed up.
fn drain(connection: &mut Connection) -> Vec<RequestKey> {
    let mut requests = Vec::new();
    loop {
        match connection.poll_output() {
            Output::Idle(_) => return requests,
            Output::Send { frame, .. } => {
                scan(&frame).expect("what we send can be read");
            }
            Output::Event(Event::Request { request, .. }) => requests.push(request),
            _ => {}
        }
    }
}

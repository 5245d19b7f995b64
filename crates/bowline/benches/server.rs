//! What serving costs: an echo among few and many tools, and the replay of
//! conversations of growing length.
//!
//! ```sh
//! cargo bench -p bowline --all-features --bench server
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use bowline::{
    server::{Conversation, Server, Service, Tool, form::Elicit},
    transport::MemoryLink,
};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

#[derive(Deserialize, JsonSchema)]
struct Say {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Questions {
    count: u32,
}

#[derive(Elicit)]
struct Answer {
    text: String,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    println!("echo over memory, median of rounds of 2,000 calls:");
    for tools in [1, 10, 100, 1000] {
        let mut peer = Peer::new(&runtime, echoes(tools));
        let call = stateless("echo", &json!({"message": "hi"}), None);
        println!(
            "  {tools:>5} tools: {:>9.2?} per call",
            peer.time(&call, 2000)
        );
    }
    println!("the last round of a conversation, replayed from its journal:");
    for count in [5, 10, 20, 40, 80] {
        let mut peer = Peer::new(&runtime, asking());
        let last = peer.converse(count);
        let time = peer.time(&last, 200);
        let each = time / count;
        println!("  {count:>5} questions: {time:>9.2?} per round, {each:>8.2?} per question");
    }
}

fn echoes(tools: usize) -> Service {
    let tool = |name: String| {
        Tool::new(name)
            .description("Says it again")
            .input::<Say>()
            .handler(async |say| Ok(say.message))
    };
    let others = (1..tools).map(|number| tool(format!("other{number}")));
    let server = Server::new("bench", "1").tools(others);
    let server = server.tool(tool("echo".to_owned()));
    server.build().expect("the server is sound")
}

/// A tool that asks on for ever, so that its last round is never the last and
/// can be played again and again.
fn asking() -> Service {
    let ask = Tool::new("ask")
        .description("Asks")
        .input::<Questions>()
        .handler_with_conversation(async |questions, cx: Conversation| {
            for number in 0..=questions.count {
                let question = format!("Question {number}?");
                black_box(cx.elicit::<Answer>(question).required().await?.text);
            }
            Ok("done")
        });
    let server = Server::new("bench", "1").tool(ask);
    server.build().expect("the server is sound")
}

/// A client that only knows frames.
struct Peer<'a> {
    runtime: &'a Runtime,
    link: MemoryLink,
}

impl<'a> Peer<'a> {
    fn new(runtime: &'a Runtime, service: Service) -> Self {
        let (link, server) = MemoryLink::pair();
        runtime.spawn(async move { service.serve(server).await });
        Self { runtime, link }
    }

    fn ask(&mut self, frame: &Bytes) -> Bytes {
        let link = &mut self.link;
        self.runtime.block_on(async {
            link.send_frame(frame.clone()).await;
            link.recv().await.expect("an answer")
        })
    }

    fn time(&mut self, frame: &Bytes, calls: u32) -> Duration {
        let mut rounds: Vec<Duration> = (0..7)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..calls {
                    black_box(self.ask(frame));
                }
                start.elapsed() / calls
            })
            .collect();
        rounds.sort_unstable();
        rounds[rounds.len() / 2]
    }

    /// Answers this many questions, and returns the round that brings the last
    /// answer.
    fn converse(&mut self, count: u32) -> Bytes {
        let arguments = json!({"count": count});
        let mut frame = stateless("ask", &arguments, None);
        for _ in 0..count {
            let answer: Value = serde_json::from_slice(&self.ask(&frame)).expect("JSON");
            let result = &answer["result"];
            let asked = result["inputRequests"].as_object().expect("questions");
            let accept = json!({"action": "accept", "content": {"text": "yes"}});
            let answers: Value = asked
                .keys()
                .map(|key| (key.clone(), accept.clone()))
                .collect();
            let round = json!({"inputResponses": answers, "requestState": result["requestState"]});
            frame = stateless("ask", &arguments, Some(round));
        }
        frame
    }
}

/// A call as the stateless era has it.
fn stateless(tool: &str, arguments: &Value, round: Option<Value>) -> Bytes {
    let mut params = json!({"name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }});
    if let (Some(params), Some(Value::Object(round))) = (params.as_object_mut(), round) {
        params.extend(round);
    }
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    request.to_string().into()
}

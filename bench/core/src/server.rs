//! Requests to a server in memory.

use std::hint::black_box;

use bowline::{
    server::{Conversation, Server, Service, Tool, form::Elicit},
    transport::MemoryLink,
};
use bowline_proto::jsonrpc::scan;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// What is echoed: 100 bytes.
pub(crate) const TEXT: &str = "The quick brown fox jumps over the lazy dog, and the \
                               five boxing wizards jump quickly; no \"end\".";

#[derive(Deserialize, JsonSchema)]
struct Say {
    text: String,
}

#[derive(Elicit)]
struct Answer {
    text: String,
}

/// A server that echoes, and asks.
pub(crate) fn service() -> Service {
    let echo = Tool::new("echo")
        .description("Says it again")
        .input::<Say>()
        .handler(async |say| Ok(say.text));
    let ask = Tool::new("ask")
        .description("Asks")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let first = cx.elicit::<Answer>("What?").required().await?;
            let then = cx.elicit::<Answer>("And then?").required().await?;
            Ok(first.text + &then.text)
        });
    let server = Server::new("core", "1").tool(echo).tool(ask);
    server.build().expect("the server is sound")
}

/// The envelope of a call, and of its answer.
pub(crate) fn envelope(times: usize) {
    let call = stateless_call(&json!({"name": "echo", "arguments": {"text": TEXT}}));
    for _ in 0..times {
        black_box(scan(black_box(&call))).expect("a request");
    }
}

/// An echo, after a handshake.
pub(crate) fn call(runtime: &Runtime, times: usize) {
    let mut peer = Peer::new(runtime, service());
    peer.shake_hands();
    let params = json!({"name": "echo", "arguments": {"text": TEXT}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    peer.repeat(&call.to_string().into(), times, TEXT.len());
}

/// An echo of a long text, after a handshake.
pub(crate) fn large(runtime: &Runtime, times: usize) {
    let mut peer = Peer::new(runtime, service());
    peer.shake_hands();
    let text = large_text();
    let params = json!({"name": "echo", "arguments": {"text": text}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    peer.repeat(&call.to_string().into(), times, text.len());
}

/// About 64 KiB, in lines.
pub(crate) fn large_text() -> String {
    format!("{TEXT}\n").repeat(650)
}

/// An echo that says all by itself.
pub(crate) fn stateless(runtime: &Runtime, times: usize) {
    let mut peer = Peer::new(runtime, service());
    let call = stateless_call(&json!({"name": "echo", "arguments": {"text": TEXT}}));
    peer.repeat(&call, times, TEXT.len());
}

/// The round of a conversation in which one question has been answered, and
/// the next one is asked: opened, replayed, and sealed again.
pub(crate) fn question(runtime: &Runtime, times: usize) {
    let mut peer = Peer::new(runtime, service());
    let begin = stateless_call(&json!({"name": "ask", "arguments": {}}));
    let asked: Value = serde_json::from_slice(&peer.ask(&begin)).expect("JSON");
    let asked = &asked["result"];
    let accept = json!({"action": "accept", "content": {"text": "this"}});
    let questions = asked["inputRequests"].as_object().expect("questions");
    let answers: Value = questions
        .keys()
        .map(|key| (key.clone(), accept.clone()))
        .collect();
    let round = stateless_call(&json!({
        "name": "ask", "arguments": {},
        "inputResponses": answers, "requestState": asked["requestState"],
    }));
    peer.repeat(&round, times, "And then?".len());
}

/// A call as the stateless era has it.
pub(crate) fn stateless_call(params: &Value) -> Bytes {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "core", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    call.to_string().into()
}

/// A client that only knows frames.
pub(crate) struct Peer<'a> {
    runtime: &'a Runtime,
    link: MemoryLink,
}

impl<'a> Peer<'a> {
    pub(crate) fn new(runtime: &'a Runtime, service: Service) -> Self {
        let (link, server) = MemoryLink::pair();
        runtime.spawn(async move { service.serve(server).await });
        Self { runtime, link }
    }

    pub(crate) fn shake_hands(&mut self) {
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "core", "version": "1"},
        }});
        self.ask(&initialize.to_string().into());
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let sent = self.link.send_frame(ready.to_string().into());
        assert!(self.runtime.block_on(sent), "the server is there");
    }

    pub(crate) fn ask(&mut self, frame: &Bytes) -> Bytes {
        let link = &mut self.link;
        self.runtime.block_on(async {
            link.send_frame(frame.clone()).await;
            link.recv().await.expect("an answer")
        })
    }

    /// Asks so often, and looks whether there is as much in the answer.
    pub(crate) fn repeat(&mut self, frame: &Bytes, times: usize, least: usize) {
        for _ in 0..times {
            let answer = self.ask(frame);
            assert!(answer.len() > least && !answer.starts_with(b"{\"error"));
            black_box(answer);
        }
    }
}

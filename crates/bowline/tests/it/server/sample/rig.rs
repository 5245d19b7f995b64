//! Clients that call one tool, and answer what it asks meanwhile.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
};

use bowline::{
    Client,
    proto::revision::{Era, Revision},
    server::{CallLimits, Conversation, Result, Server, Service, Tool},
    transport::{DialOptions, Link, LinkEvent, OutgoingFrame, Transport as _},
};
use serde_json::{Value, json};

/// One without tools for models, one with, one that is replayed.
pub(in crate::server) const REVISIONS: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];
pub(in crate::server) const WITH_TOOLS: [Revision; 2] =
    [Revision::V2025_11_25, Revision::V2026_07_28];

/// What the client does with a question.
pub(in crate::server) type Answers = dyn Fn(&Value) -> Value + Send + Sync;

/// What came of a call.
#[derive(Debug, Default)]
pub(in crate::server) struct Told {
    pub(in crate::server) text: String,
    /// What was asked meanwhile.
    pub(in crate::server) asked: Vec<Value>,
    /// The names under which it was asked, where questions have names.
    pub(in crate::server) keys: Vec<String>,
    /// What was called off again.
    pub(in crate::server) withdrawn: usize,
}

/// A server with one tool, `talk`.
pub(in crate::server) fn serve(talk: Tool) -> Service {
    let server = Server::new("test", "1").tool(talk);
    server.build().expect("the server is sound")
}

/// A tool that does this.
pub(in crate::server) fn talk<W>(
    work: impl Fn(Conversation) -> W + Send + Sync + 'static,
) -> Service
where
    W: Future<Output = Result<String>> + Send + 'static,
{
    serve(draft(CallLimits::new(), work))
}

pub(in crate::server) fn draft<W>(
    limits: CallLimits,
    work: impl Fn(Conversation) -> W + Send + Sync + 'static,
) -> Tool
where
    W: Future<Output = Result<String>> + Send + 'static,
{
    Tool::new("talk")
        .description("Talks")
        .no_input()
        .limits(limits)
        .handler_with_conversation(move |_, cx: Conversation| work(cx))
}

/// Calls the tool with a client that gives models no tools.
pub(in crate::server) async fn call(
    service: &Service,
    revision: Revision,
    answers: Arc<Answers>,
) -> Told {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let answer = move |asked: &Mutex<Vec<Value>>, question: Value| {
        let answer = answers(&question);
        asked.lock().expect("nobody panicked").push(question);
        answer
    };
    let (to_user, to_model) = (answer.clone(), answer);
    let (by_user, by_model) = (Arc::clone(&asked), Arc::clone(&asked));
    let client = Client::builder()
        .revisions([revision])
        .on_elicit(move |params| {
            let answer = to_user(&by_user, serde_json::to_value(&params).expect("JSON"));
            async move { serde_json::from_value(answer).expect("JSON") }
        })
        .on_sample(move |params| {
            let answer = to_model(&by_model, serde_json::to_value(&params).expect("JSON"));
            async move { Ok(serde_json::from_value(answer).expect("JSON")) }
        })
        .connect(service.in_memory())
        .await
        .expect("it connects");
    let result = client
        .tools()
        .call("talk", json!({}))
        .await
        .expect("a result");
    Told {
        text: result.all_text(),
        asked: std::mem::take(&mut asked.lock().expect("nobody panicked")),
        ..Told::default()
    }
}

/// A client by hand: it declares what it is told to, and sees the wire.
pub(in crate::server) struct ByHand {
    link: Box<dyn Link>,
    revision: Revision,
    capabilities: Value,
    told: Told,
}

/// Calls the tool with a client that gives models tools.
pub(in crate::server) async fn call_with_tools(
    service: &Service,
    revision: Revision,
    answers: impl Fn(&Value) -> Value,
) -> Told {
    let capabilities = json!({"sampling": {"tools": {}}, "elicitation": {}});
    let client = ByHand::connect(service, revision, capabilities).await;
    client.call(answers).await
}

impl ByHand {
    pub(in crate::server) async fn connect(
        service: &Service,
        revision: Revision,
        capabilities: Value,
    ) -> Self {
        let link = service.in_memory().dial(DialOptions::default()).await;
        let mut client = Self {
            link: link.expect("it dials"),
            revision,
            capabilities,
            told: Told::default(),
        };
        if client.revision.rules().era == Era::Handshake {
            let info = json!({"name": "by hand", "version": "1"});
            client.send(json!({"id": 1, "method": "initialize", "params": {
                "protocolVersion": revision.to_string(),
                "capabilities": client.capabilities,
                "clientInfo": info,
            }}));
            client.receive().await;
            client.send(json!({"method": "notifications/initialized"}));
        }
        client
    }

    /// Calls the tool, and answers what is asked meanwhile.
    pub(in crate::server) async fn call(mut self, answers: impl Fn(&Value) -> Value) -> Told {
        let mut params = json!({"name": "talk", "arguments": {}});
        if self.revision.rules().era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision.to_string(),
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        for id in 2.. {
            self.send(json!({"id": id, "method": "tools/call", "params": params}));
            let result = self.result(&answers).await;
            if result["resultType"] != "input_required" {
                self.told.text = result["content"][0]["text"]
                    .as_str()
                    .map_or_else(|| result.to_string(), str::to_owned);
                break;
            }
            let mut responses = json!({});
            for (key, question) in result["inputRequests"].as_object().expect("questions") {
                self.told.keys.push(key.clone());
                responses[key] = self.answer(&question["params"], &answers);
            }
            params["inputResponses"] = responses;
            params["requestState"] = result["requestState"].clone();
        }
        self.told
    }

    async fn result(&mut self, answers: &impl Fn(&Value) -> Value) -> Value {
        loop {
            let mut message = self.receive().await;
            if message["method"] == "notifications/cancelled" {
                self.told.withdrawn += 1;
            } else if message["method"].is_string() {
                let answer = self.answer(&message["params"], answers);
                if !answer.is_null() {
                    self.send(json!({"id": message["id"], "result": answer}));
                }
            } else if message["error"].is_object() {
                return message["error"].take();
            } else {
                return message["result"].take();
            }
        }
    }

    fn answer(&mut self, question: &Value, answers: &impl Fn(&Value) -> Value) -> Value {
        let answer = answers(question);
        self.told.asked.push(question.clone());
        answer
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let frame = message.to_string().into();
        let sent = self.link.send(OutgoingFrame { id: None, frame });
        sent.expect("there is room");
    }

    async fn receive(&mut self) -> Value {
        match poll_fn(|cx| self.link.poll_event(cx)).await {
            LinkEvent::Frame(frame) => serde_json::from_slice(&frame).expect("JSON"),
            other => panic!("no frame, but {other:?}"),
        }
    }
}

/// The model says this.
pub(in crate::server) fn says(text: &str) -> Value {
    json!({
        "role": "assistant", "model": "parrot-1", "stopReason": "endTurn",
        "content": {"type": "text", "text": text},
    })
}

/// The model calls this tool.
pub(in crate::server) fn calls(name: &str, input: &Value) -> Value {
    json!({
        "role": "assistant", "model": "parrot-1", "stopReason": "toolUse",
        "content": [{"type": "tool_use", "id": "c1", "name": name, "input": input}],
    })
}

/// Each question in turn is answered by the next of these.
pub(in crate::server) fn in_turn(answers: impl IntoIterator<Item = Value>) -> Arc<Answers> {
    let answers = Mutex::new(answers.into_iter().collect::<Vec<_>>().into_iter());
    Arc::new(move |_| {
        answers
            .lock()
            .expect("JSON")
            .next()
            .expect("no more was expected")
    })
}

/// The text of the last message in a question.
pub(in crate::server) fn prompt(question: &Value) -> &str {
    let last = question["messages"].as_array().and_then(|them| them.last());
    last.and_then(|it| it["content"]["text"].as_str())
        .unwrap_or("")
}

/// Says again what it was asked last.
pub(in crate::server) fn echo() -> Arc<Answers> {
    Arc::new(|question| says(&format!("re: {}", prompt(question))))
}

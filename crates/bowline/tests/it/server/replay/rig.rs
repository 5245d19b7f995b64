//! A client of the stateless era that says exactly what a test wants it to.

use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use bowline::{server::Service, transport::MemoryLink};
use serde_json::{Value, json};
use tokio::time::Instant;

/// One end of a link, with a server at the other.
pub(crate) struct Peer {
    link: MemoryLink,
    next: u64,
    arrived: HashMap<u64, Value>,
    /// What it says of itself with each request; a test may change it.
    pub(crate) meta: Value,
    /// The notifications that came, in their order.
    pub(crate) told: Vec<Value>,
}

/// What a tool is called with.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

/// What came of one round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Round {
    /// The call ended with this result.
    Ended(Value),
    /// The client is asked.
    Asked(Questions),
    /// The call ended with this error.
    Refused(i64, String),
}

/// What the client is asked, and what it must bring back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Questions {
    /// In the order in which they were asked.
    pub(crate) asked: Vec<(String, Value)>,
    pub(crate) state: String,
}

impl Peer {
    pub(crate) fn new<S: Send + Sync + 'static>(service: &Service<S>) -> Self {
        Self::connect(service, None)
    }

    /// A client whom the transport knows.
    pub(crate) fn known<S: Send + Sync + 'static>(service: &Service<S>, name: &str) -> Self {
        Self::connect(service, Some(name.to_owned()))
    }

    fn connect<S: Send + Sync + 'static>(service: &Service<S>, principal: Option<String>) -> Self {
        let (link, far) = MemoryLink::pair();
        let service = service.clone();
        tokio::spawn(async move {
            match principal {
                Some(name) => service.serve_as(&name, far).await,
                None => service.serve(far).await,
            }
        });
        Self {
            link,
            next: 0,
            arrived: HashMap::new(),
            meta: meta(),
            told: Vec::new(),
        }
    }

    /// Sends a request, and does not wait for its answer.
    pub(crate) async fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.send_text(method, &params.to_string()).await
    }

    /// Sends a request whose parameters are this text, to the letter: an object
    /// that is not empty and has no `_meta`. Some texts are JSON and have no
    /// value here, such as a number that is too large.
    pub(crate) async fn send_text(&mut self, method: &str, params: &str) -> u64 {
        self.next += 1;
        let (id, meta) = (self.next, &self.meta);
        let members = params.strip_prefix('{').expect("an object");
        let frame = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{meta},{members}}}"#
        );
        assert!(self.link.send_frame(frame.into()).await);
        self.next
    }

    pub(crate) async fn cancel(&mut self, id: u64) {
        let frame = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}
        });
        assert!(self.link.send_frame(frame.to_string().into()).await);
    }

    /// Waits for the answer to a request. What hangs fails after a minute,
    /// which passes at once where the clock is paused.
    pub(crate) async fn answer(&mut self, id: u64) -> Round {
        loop {
            if let Some(frame) = self.arrived.remove(&id) {
                return Round::read(&frame);
            }
            let frame = tokio::time::timeout(Duration::from_secs(600), self.link.recv()).await;
            let frame = frame.expect("the server answers").expect("a frame");
            let frame: Value = serde_json::from_slice(&frame).expect("JSON");
            match frame["id"].as_u64() {
                Some(id) => drop(self.arrived.insert(id, frame)),
                None => self.told.push(frame),
            }
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Round {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    /// A round of a call whose parameters are this text.
    pub(crate) async fn ask_text(&mut self, params: &str) -> Round {
        let id = self.send_text("tools/call", params).await;
        self.answer(id).await
    }

    /// The first round of a call.
    pub(crate) async fn begin(&mut self, called: &Called) -> Round {
        self.ask("tools/call", &called.params()).await
    }

    /// A later round.
    pub(crate) async fn go_on(&mut self, called: &Called, state: &str, answers: &Value) -> Round {
        self.ask("tools/call", &called.later(state, answers)).await
    }

    /// All rounds of a call, with the answers that a user gives.
    pub(crate) async fn run(
        &mut self,
        called: &Called,
        mut user: impl FnMut(&str, &Value) -> Value,
    ) -> Round {
        let mut round = self.begin(called).await;
        while let Round::Asked(questions) = round {
            let answers = questions.answers(&mut user);
            round = self.go_on(called, &questions.state, &answers).await;
        }
        round
    }
}

impl Called {
    pub(crate) fn new(tool: &'static str) -> Self {
        Self {
            tool,
            arguments: json!({}),
        }
    }

    pub(crate) fn params(&self) -> Value {
        json!({"name": self.tool, "arguments": self.arguments})
    }

    pub(crate) fn later(&self, state: &str, answers: &Value) -> Value {
        let mut params = self.params();
        params["requestState"] = state.into();
        params["inputResponses"] = answers.clone();
        params
    }
}

impl Round {
    pub(crate) fn read(frame: &Value) -> Self {
        if let Some(code) = frame["error"]["code"].as_i64() {
            let message = frame["error"]["message"].as_str().unwrap_or_default();
            return Self::Refused(code, message.to_owned());
        }
        let result = &frame["result"];
        if result["resultType"] != "input_required" {
            return Self::Ended(result.clone());
        }
        let asked = result["inputRequests"].as_object().expect("questions");
        Self::Asked(Questions {
            asked: asked.clone().into_iter().collect(),
            state: result["requestState"].as_str().expect("a state").to_owned(),
        })
    }

    /// The questions of a call that is not over.
    #[track_caller]
    pub(crate) fn questions(self) -> Questions {
        match self {
            Self::Asked(questions) => questions,
            other => panic!("the client is not asked: {other:?}"),
        }
    }

    /// The text of the result, and whether it is that of a failure.
    #[track_caller]
    pub(crate) fn text(&self) -> (String, bool) {
        let Self::Ended(result) = self else {
            panic!("the call has not ended: {self:?}");
        };
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        (text.to_owned(), result["isError"] == true)
    }

    /// The message of an error.
    #[track_caller]
    pub(crate) fn refusal(&self) -> &str {
        match self {
            Self::Refused(_, message) => message,
            other => panic!("it is not refused: {other:?}"),
        }
    }
}

impl Questions {
    /// What a user answers, by the question's key and the question.
    pub(crate) fn answers(&self, mut user: impl FnMut(&str, &Value) -> Value) -> Value {
        let answers = self.asked.iter();
        answers
            .map(|(key, question)| (key.clone(), user(key, question)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// The messages that the user sees.
    pub(crate) fn messages(&self) -> Vec<&str> {
        let messages = self.asked.iter();
        messages
            .map(|(_, question)| question["params"]["message"].as_str().unwrap_or("roots"))
            .collect()
    }
}

/// The answer of a user who says this.
pub(crate) fn say(text: &str) -> Value {
    json!({"action": "accept", "content": {"text": text}})
}

/// Answers to any number of questions, the same to each.
pub(crate) fn always(text: &'static str) -> impl FnMut(&str, &Value) -> Value {
    move |_, _| say(text)
}

/// A request of the stateless era, of a client that can do everything.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = meta();
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// What such a client says of itself.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "rig", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {"form": {}}, "roots": {}, "sampling": {}
        },
    })
}

/// The parameters of a call as a text, with arguments that are a text.
pub(crate) fn call_text(tool: &str, arguments: &str, later: Option<(&str, &Value)>) -> String {
    let more = later.map(|(state, answers)| {
        format!(
            r#","requestState":{},"inputResponses":{answers}"#,
            json!(state)
        )
    });
    let more = more.unwrap_or_default();
    format!(r#"{{"name":"{tool}","arguments":{arguments}{more}}}"#)
}

/// A clock for a server that goes with the runtime's, which tests pause and
/// advance.
pub(crate) fn clock() -> impl Fn() -> SystemTime + Send + Sync + 'static {
    let began = Instant::now();
    move || SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000) + began.elapsed()
}

//! Sessions of revisions up to 2025-11-25, and calls in them.
//!
//! A call in a session has no journal. A client that loses it must assume that it may have
//! happened, and does not repeat it, unless the server says that it was not processed.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    Client, Course, accepted, end_of_result, pause, shortened,
    wire::{self, HttpRequest, HttpResponse, Lost},
};
use crate::{
    outcome::{End, Kind, Outcome},
    random::Random,
};

const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The revisions with questions to the user.
const WITH_QUESTIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// The revision with tasks.
pub(super) const WITH_TASKS: [&str; 1] = ["2025-11-25"];

/// How long a response may take, questions included.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many calls a session is used for.
const MAX_USES: u32 = 8;
/// How often a stream is resumed.
const MAX_RESUMPTIONS: u32 = 4;

/// A session that is open, as far as its client knows.
pub(super) struct Session {
    address: SocketAddr,
    id: String,
    revision: &'static str,
    uses: u32,
    next_id: u64,
}

/// What became of a request in a session.
pub(super) enum Exchange {
    Result(Value),
    Error(Value),
    /// It was not processed and may be sent again.
    NotProcessed,
    /// The server does not know the session, and did nothing.
    SessionGone,
    Unknown(&'static str),
}

impl Client {
    /// Returns a session with one of these revisions, or `None` if none can be opened now.
    pub(super) async fn session(&mut self, revisions: &[&'static str]) -> Option<Session> {
        if let Some(mut session) = self.session.take() {
            session.uses += 1;
            let fits = revisions.contains(&session.revision);
            if fits && session.uses < MAX_USES {
                return Some(session);
            }
            session.close().await;
        }
        let revision = *self.random.pick(revisions);
        Session::open(self.address, revision).await
    }

    pub(super) async fn call_plain(&mut self, course: Course) -> Outcome {
        let call = json!({"name": "plain", "arguments": course.arguments()});
        self.call_in_session(course, Kind::PlainCall, &REVISIONS, &call)
            .await
    }

    pub(super) async fn call_live(&mut self, course: Course) -> Outcome {
        let call = json!({"name": "book", "arguments": course.arguments()});
        self.call_in_session(course, Kind::LiveCall, &WITH_QUESTIONS, &call)
            .await
    }

    async fn call_in_session(
        &mut self,
        mut course: Course,
        kind: Kind,
        revisions: &[&'static str],
        call: &Value,
    ) -> Outcome {
        while !course.is_overdue() {
            let Some(mut session) = self.session(revisions).await else {
                pause(&mut self.random).await;
                continue;
            };
            let exchange = session.ask("tools/call", call, &mut self.random).await;
            let end = match exchange {
                Exchange::NotProcessed => {
                    self.session = Some(session);
                    pause(&mut self.random).await;
                    continue;
                }
                Exchange::SessionGone => return course.end(kind, End::LostSession),
                Exchange::Result(result) => end_of_result(&result),
                Exchange::Error(error) => end_of_error(&error),
                Exchange::Unknown(why) => End::Unknown(why),
            };
            course.beginnings += 1;
            self.session = Some(session);
            return course.end(kind, end);
        }
        course.end(kind, End::Stuck("the session cannot be used".to_owned()))
    }
}

fn end_of_error(error: &Value) -> End {
    let message = error["message"].as_str().unwrap_or_default();
    match message.contains("unknown") || message.contains("lost") {
        true => End::Unknown("the server said so"),
        false => End::Refused(shortened(message)),
    }
}

impl Session {
    async fn open(address: SocketAddr, revision: &'static str) -> Option<Self> {
        let mut session = Self {
            address,
            id: String::new(),
            revision,
            uses: 0,
            next_id: 1,
        };
        let initialize = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": revision,
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "client", "version": "1"},
            }
        });
        let mut response = session.post(&initialize).await.ok()?;
        session.id = response.session.clone()?;
        let opened = response.message().await?;
        if opened["result"]["protocolVersion"] != revision {
            return None;
        }
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let response = session.post(&initialized).await.ok()?;
        (response.status == 202).then_some(session)
    }

    pub(super) async fn close(self) {
        // Nobody needs to know; it expires.
        let _ = self.send("DELETE", String::new(), None).await;
    }

    async fn post(&self, message: &Value) -> Result<HttpResponse, Lost> {
        self.send("POST", message.to_string(), None).await
    }

    async fn send(
        &self,
        method: &str,
        body: String,
        last_event: Option<&str>,
    ) -> Result<HttpResponse, Lost> {
        let accept = match method {
            "GET" => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        let mut headers = vec![("accept", accept.to_owned())];
        if !self.id.is_empty() {
            headers.push(("mcp-session-id", self.id.clone()));
            headers.push(("mcp-protocol-version", self.revision.to_owned()));
        }
        headers.extend(last_event.map(|id| ("last-event-id", id.to_owned())));
        let request = HttpRequest {
            method,
            headers,
            body,
        };
        wire::send(self.address, &request).await
    }

    /// Sends a request, answers the questions that come meanwhile, and returns how it
    /// ended.
    pub(super) async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        random: &mut Random,
    ) -> Exchange {
        let id = self.next_id;
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let response = match self.post(&message).await {
            Ok(response) => response,
            Err(Lost::NotSent) => return Exchange::NotProcessed,
            Err(Lost::Cut) => return Exchange::Unknown("the connection was cut"),
        };
        match response.status {
            200 => match timeout(PATIENCE, self.follow(response, id, random)).await {
                Ok(exchange) => exchange,
                Err(_) => Exchange::Unknown("there was no response in time"),
            },
            404 => Exchange::SessionGone,
            429 | 503 => Exchange::NotProcessed,
            _ => Exchange::Unknown("an unexpected status"),
        }
    }

    async fn follow(
        &mut self,
        mut response: HttpResponse,
        id: u64,
        random: &mut Random,
    ) -> Exchange {
        let mut resumptions = 0;
        loop {
            while let Some(message) = response.message().await {
                if message["method"] == "elicitation/create" {
                    self.answer(&message, random).await;
                } else if message["id"] == id && message["error"].is_object() {
                    return Exchange::Error(message["error"].clone());
                } else if message["id"] == id {
                    return Exchange::Result(message["result"].clone());
                }
            }
            let Some(last) = response.last_event.clone() else {
                return Exchange::Unknown("the response was cut");
            };
            loop {
                if resumptions == MAX_RESUMPTIONS {
                    return Exchange::Unknown("the stream ended without the response");
                }
                resumptions += 1;
                pause(random).await;
                if let Ok(resumed) = self.send("GET", String::new(), Some(&last)).await {
                    match resumed.status {
                        200 => response = resumed,
                        404 => return Exchange::Unknown("the session was lost meanwhile"),
                        _ => continue,
                    }
                    response.last_event.get_or_insert(last);
                    break;
                }
            }
        }
    }

    /// Answers a question, at any node.
    async fn answer(&self, question: &Value, random: &mut Random) {
        let key = question["params"]["message"].as_str().unwrap_or_default();
        let result = accepted(&format!("live-{key}"));
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        self.deliver(&answer, random).await;
    }

    /// Sends a message that has no response, until it has arrived.
    async fn deliver(&self, message: &Value, random: &mut Random) {
        for _ in 0..20 {
            match self.post(message).await {
                Ok(mut response) if response.status != 503 => {
                    response.drain().await;
                    return;
                }
                _ => pause(random).await,
            }
        }
    }
}

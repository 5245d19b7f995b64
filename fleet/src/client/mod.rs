//! Clients, which repeat what they may until they know how a call ended.

mod core_tasks;
mod extension_tasks;
mod rounds;
mod session;
mod stateless;
mod wire;

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use self::session::Session;
pub(crate) use self::stateless::{Reply, Stateless};
use crate::{
    node::Report,
    outcome::{End, Kind, Outcome},
    random::Random,
};

/// How long a client tries to find out how a call ended.
const PATIENCE: Duration = Duration::from_secs(90);

/// One of many clients of a fleet.
pub(crate) struct Client {
    address: SocketAddr,
    random: Random,
    /// Is used for several calls.
    session: Option<Session>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, random: Random) -> Self {
        Self {
            address,
            random,
            session: None,
        }
    }

    /// Makes a call and returns how it ended.
    pub(crate) async fn call(&mut self, conversation: &str) -> Outcome {
        let course = Course::new(conversation);
        match self.random.below(100) {
            0..40 => self.call_by_rounds(course).await,
            40..60 => self.call_as_extension_task(course).await,
            60..70 => self.call_as_core_task(course).await,
            70..82 => self.call_live(course).await,
            _ => self.call_plain(course).await,
        }
    }

    fn stateless(&self) -> Stateless {
        Stateless::new(self.address)
    }
}

/// What a client knows of a call.
struct Course {
    conversation: String,
    beginnings: u32,
    also_reported: Vec<Report>,
    deadline: Instant,
}

impl Course {
    fn new(conversation: &str) -> Self {
        Self {
            conversation: conversation.to_owned(),
            beginnings: 0,
            also_reported: Vec::new(),
            deadline: Instant::now() + PATIENCE,
        }
    }

    fn end(self, kind: Kind, end: End) -> Outcome {
        Outcome {
            conversation: self.conversation,
            kind,
            beginnings: self.beginnings,
            end,
            also_reported: self.also_reported,
        }
    }

    fn is_overdue(&self) -> bool {
        Instant::now() > self.deadline
    }

    fn arguments(&self) -> Value {
        json!({"conversation": self.conversation})
    }
}

/// Waits before something is tried again.
async fn pause(random: &mut Random) {
    sleep(random.duration(Duration::from_millis(20), Duration::from_millis(120))).await;
}

/// Returns the report in the result of a tool, or how else it ended.
pub(crate) fn end_of_result(result: &Value) -> End {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    match serde_json::from_str(text) {
        Ok(report) => End::Reported(report),
        Err(_) => End::Refused(shortened(text)),
    }
}

/// Cuts a message before what differs from call to call.
fn shortened(message: &str) -> String {
    let message: String = message.chars().take(100).collect();
    message.replace(|c: char| c.is_ascii_digit(), "0")
}

/// An answer to a form.
pub(crate) fn accepted(text: &str) -> Value {
    json!({"action": "accept", "content": {"text": text}})
}

//! Users who do what a question says, in every era.

use std::sync::{Arc, Mutex};

use bowline::{
    Client,
    proto::{
        jsonrpc::RawJson,
        model::{ElicitParams, ElicitResult, Root},
        revision::Revision,
    },
    server::Service,
    transport::Transport,
};
use serde_json::{Value, json};

use crate::sync::lock;

/// One revision of each way to ask.
pub(crate) const REVISIONS: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) failed: bool,
    /// What the user was asked, in no order: questions that are asked together
    /// arrive in any.
    pub(crate) asked: Vec<String>,
}

/// What a user does with a question that says this.
pub(crate) fn answer_to(message: &str) -> Value {
    let (what, _) = message.split_once(':').unwrap_or_default();
    match what {
        "no" => json!({"action": "decline"}),
        "away" => json!({"action": "cancel"}),
        // They learn.
        "bad" if !message.contains("not valid") => {
            json!({"action": "accept", "content": {"wrong": 1}})
        }
        "confirm" => json!({"action": "accept", "content": {"confirmed": true}}),
        "refuse" => json!({"action": "accept", "content": {"confirmed": false}}),
        _ => json!({"action": "accept", "content": {"text": message}}),
    }
}

/// Calls a tool with a client of this revision.
pub(crate) async fn call<S: Send + Sync + 'static>(
    service: &Service<S>,
    revision: Revision,
    tool: &str,
    arguments: Value,
) -> Outcome {
    call_over(service.in_memory(), revision, tool, arguments).await
}

/// The same, wherever the server is.
pub(crate) async fn call_over(
    transport: impl Transport,
    revision: Revision,
    tool: &str,
    arguments: Value,
) -> Outcome {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let user = move |params: ElicitParams| {
        let mut seen = lock(&seen);
        seen.push(params.message.clone());
        let answer = RawJson::encode(&answer_to(&params.message)).expect("JSON");
        async move { answer.decode::<ElicitResult>().expect("an answer") }
    };
    let client = Client::builder()
        .revisions([revision])
        .on_elicit(user)
        .roots([Root::new("file:///work")])
        .connect(transport)
        .await
        .expect("it connects");
    let result = client.tools().call(tool, arguments).await;
    let (text, failed) = match result {
        Ok(result) => (result.all_text(), result.is_error()),
        Err(error) => (format!("{error}"), true),
    };
    let mut asked = lock(&asked).clone();
    asked.sort();
    Outcome {
        text,
        failed,
        asked,
    }
}

/// A client whose user never answers.
pub(crate) async fn silent<S: Send + Sync + 'static>(service: &Service<S>) -> Client {
    Client::builder()
        .revisions([Revision::V2025_11_25])
        .on_elicit(async |_| std::future::pending().await)
        .connect(service.in_memory())
        .await
        .expect("it connects")
}

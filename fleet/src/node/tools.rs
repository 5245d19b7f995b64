//! The tools of a node, and how they report what they did.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bowline::server::{
    Conversation, ErrorKind, HandlerContext, Result, TaskPolicy, Tool, form::Elicit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::NodeOptions;
use crate::effects::{Effect, EffectsConnections};

/// What a tool says that it did: the text of its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The number of each step's effect.
    pub effects: BTreeMap<String, u64>,
    /// Steps of which it is unknown whether they happened.
    pub unknown: Vec<String>,
    /// Steps that certainly did not happen.
    pub void: Vec<String>,
}

impl Report {
    fn to_text(&self) -> Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// Adds a step. Returns whether the next one may follow.
    fn add(&mut self, step: &str, outcome: Result<Option<u64>>) -> Result<bool> {
        match outcome {
            Ok(Some(id)) => {
                self.effects.insert(step.to_owned(), id);
                return Ok(true);
            }
            Ok(None) => self.void.push(step.to_owned()),
            Err(error) if *error.kind() == ErrorKind::OutcomeUnknown => {
                self.unknown.push(step.to_owned());
            }
            Err(error) => return Err(error),
        }
        Ok(false)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Call {
    conversation: String,
}

#[derive(Elicit)]
struct Answer {
    text: String,
}

/// What the tools of a node share.
pub(super) struct Desk {
    effects: EffectsConnections,
    node: String,
    performed: AtomicU64,
}

impl Desk {
    pub(super) fn new(options: &NodeOptions) -> Self {
        Self {
            effects: EffectsConnections::new(options.effects),
            node: options.name.clone(),
            performed: AtomicU64::new(0),
        }
    }

    /// Has an effect. It takes a moment before and after, so nodes also die there.
    async fn perform(
        &self,
        call: &Call,
        course: &str,
        step: &str,
        key: String,
        answers: &[String],
    ) -> Result<Option<u64>> {
        let number = self.performed.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(number % 3)).await;
        let effect = Effect {
            conversation: call.conversation.clone(),
            course: course.to_owned(),
            step: step.to_owned(),
            key,
            answers: answers.to_vec(),
            node: self.node.clone(),
            process: std::process::id(),
        };
        let id = self.effects.perform(effect).await?;
        sleep(Duration::from_millis(number % 5)).await;
        Ok(id)
    }
}

/// Reserves, asks, charges, asks, ships.
async fn order(call: Call, cx: Conversation<Desk>) -> Result<String> {
    let (mut report, desk) = (Report::default(), cx.state());
    let (call, course) = (&call, cx.id());
    let reserved = cx
        .step_with_key("reserve", |key| {
            desk.perform(call, course, "reserve", key, &[])
        })
        .await;
    if !report.add("reserve", reserved)? {
        return report.to_text();
    }

    let mut answers = Vec::new();
    let answer = cx.elicit::<Answer>("Charge?").key("first").required();
    answers.push(answer.await?.text);
    let charged = cx
        .step_with_key("charge", |key| {
            desk.perform(call, course, "charge", key, &answers)
        })
        .recover(async |key| Ok(desk.effects.settle(key).await?))
        .await;
    if !report.add("charge", charged)? {
        return report.to_text();
    }

    let answer = cx.elicit::<Answer>("Ship?").key("second").required();
    answers.push(answer.await?.text);
    // Nobody can tell afterwards.
    let shipped = cx
        .step_with_key("ship", |key| {
            desk.perform(call, course, "ship", key, &answers)
        })
        .await;
    report.add("ship", shipped)?;
    report.to_text()
}

/// The order as a call.
pub(super) fn book() -> Tool<Desk> {
    Tool::new("book")
        .description("Orders something")
        .input::<Call>()
        .handler_with_conversation(order)
}

/// The order as a task.
pub(super) fn job() -> Tool<Desk> {
    Tool::new("job")
        .description("Orders something, as a task")
        .input::<Call>()
        .task(TaskPolicy::Optional)
        .handler_with_conversation(order)
}

/// One effect, without a journal.
pub(super) fn plain() -> Tool<Desk> {
    Tool::new("plain")
        .description("Does something")
        .input::<Call>()
        .handler_with_context(async |call: Call, cx: HandlerContext<Desk>| {
            let (mut report, desk) = (Report::default(), cx.state());
            let number = desk.performed.load(Ordering::Relaxed);
            let course = format!("{}-{}-{number}", desk.node, std::process::id());
            let key = format!("{course}-{}", call.conversation);
            let done = desk.perform(&call, &key, "plain", key.clone(), &[]).await;
            report.add("plain", done)?;
            report.to_text()
        })
}

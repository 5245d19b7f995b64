//! A scripted user and model for the tour, with a log of the dialogue.

use std::sync::{Arc, Mutex};

use bowline::{
    client::ClientBuilder,
    model::{
        CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Role, SamplingBlock,
    },
};
use serde_json::{Value, json};

use crate::locks;

/// The log of a conversation, in order.
#[derive(Clone, Default)]
pub(super) struct DialogueLog {
    lines: Arc<Mutex<Vec<DialogueLine>>>,
}

/// A line of the dialogue.
#[derive(Clone, Debug)]
pub(super) struct DialogueLine {
    pub(super) speaker: Speaker,
    pub(super) text: String,
}

/// Who said it, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    ServerToUser,
    User,
    ServerToModel,
    Model,
}

impl DialogueLog {
    /// Takes the lines since the last call.
    pub(super) fn take_lines(&self) -> Vec<DialogueLine> {
        std::mem::take(&mut locks::lock(&self.lines))
    }

    fn add(&self, speaker: Speaker, text: impl Into<String>) {
        let text = text.into();
        let mut lines = locks::lock(&self.lines);
        lines.push(DialogueLine { speaker, text });
    }
}

/// Lets the script answer for a client.
pub(super) fn with_scripted_answers(builder: ClientBuilder, log: &DialogueLog) -> ClientBuilder {
    let (user, model) = (log.clone(), log.clone());
    builder
        .on_elicit(move |question| {
            let answer = fill_in(&question, &user);
            async move { answer }
        })
        .on_sample(move |question| {
            let answer = write_sample(&question, &model);
            async move { Ok(answer) }
        })
}

/// Returns the user's answer: the cheapest flight, a window seat, and yes to
/// everything else.
fn fill_in(question: &ElicitParams, log: &DialogueLog) -> ElicitResult {
    log.add(Speaker::ServerToUser, &question.message);
    let form = question.requested_schema.as_ref();
    let wants_flight = form.is_some_and(|form| form.properties.get("flight").is_some());
    let flight = cheapest(&question.message).filter(|_| wants_flight);
    let (reply, content) = match flight {
        Some(flight) => {
            let content = json!({"flight": flight, "seat": "window"});
            (format!("{flight}, at the window"), content)
        }
        None => ("Yes.".to_owned(), json!({"confirmed": true})),
    };
    log.add(Speaker::User, reply);
    accept(&content)
}

fn accept(content: &Value) -> ElicitResult {
    ElicitResult::accept_with(content).unwrap_or_else(|_| ElicitResult::cancel())
}

/// Returns the number of the cheapest flight in a list, if the message is one.
fn cheapest(message: &str) -> Option<&str> {
    let flights = message.lines().filter_map(|line| {
        let (rest, _) = line.rsplit_once(" euros")?;
        let (rest, price) = rest.rsplit_once(", ")?;
        let (id, _) = rest.split_once(" to ")?;
        Some((price.parse::<u32>().ok()?, id))
    });
    flights.min_by_key(|(price, _)| *price).map(|(_, id)| id)
}

/// Returns the model's answer. It is not a very good model.
fn write_sample(question: &CreateMessageParams, log: &DialogueLog) -> CreateMessageResult {
    let last = question.messages.last();
    let texts = last
        .iter()
        .flat_map(|message| message.content.blocks())
        .filter_map(SamplingBlock::as_text);
    let prompt = texts.collect::<Vec<_>>().join("\n");
    log.add(Speaker::ServerToModel, &prompt);
    let facts = prompt
        .split_once(": ")
        .map_or(prompt.as_str(), |(_, facts)| facts);
    let answer = format!("You fly with {facts}.");
    log.add(Speaker::Model, &answer);
    CreateMessageResult::new(Role::Assistant, SamplingBlock::text(answer), "none at all")
}

#[cfg(test)]
mod tests {
    use super::cheapest;

    #[test]
    fn the_cheapest_is_taken() {
        let list = "2 flights. Which one?\n\
                    A-1 to Oslo on 2027-05-01 at 06:40, 150 euros\n\
                    B-1 to Oslo on 2027-05-01 at 12:15, 95 euros";
        assert_eq!(cheapest(list), Some("B-1"));
        assert_eq!(cheapest("It costs 95 euros.\n\nBook it?"), None);
    }
}

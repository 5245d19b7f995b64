//! A user and a model who answer without being asked to press keys, and write
//! down what was said.

use std::sync::{Arc, Mutex, PoisonError};

use bowline::{
    client::ClientBuilder,
    proto::model::{
        CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Role, SamplingBlock,
    },
};
use serde_json::{Value, json};

/// What was said in a conversation, in order.
#[derive(Clone, Default)]
pub(super) struct Script {
    lines: Arc<Mutex<Vec<Line>>>,
}

/// Something that was said.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) who: Who,
    pub(super) text: String,
}

/// Who said it, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    ServerToUser,
    User,
    ServerToModel,
    Model,
}

impl Script {
    /// What was said since this was last asked.
    pub(super) fn take(&self) -> Vec<Line> {
        std::mem::take(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, who: Who, text: impl Into<String>) {
        let text = text.into();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(Line { who, text });
    }
}

/// Lets the two answer for a client.
pub(super) fn answer(builder: ClientBuilder, script: &Script) -> ClientBuilder {
    let (user, model) = (script.clone(), script.clone());
    builder
        .on_elicit(move |question| {
            let answer = fill_in(&question, &user);
            async move { answer }
        })
        .on_sample(move |question| {
            let answer = write(&question, &model);
            async move { Ok(answer) }
        })
}

/// The user's answer: the cheapest seat at a window, and yes to all else.
fn fill_in(question: &ElicitParams, script: &Script) -> ElicitResult {
    script.add(Who::ServerToUser, &question.message);
    let form = question.requested_schema.as_ref();
    let wants_flight = form.is_some_and(|form| form.properties.get("flight").is_some());
    let flight = cheapest(&question.message).filter(|_| wants_flight);
    let (words, content) = match flight {
        Some(flight) => {
            let content = json!({"flight": flight, "seat": "window"});
            (format!("{flight}, at the window"), content)
        }
        None => ("Yes.".to_owned(), json!({"confirmed": true})),
    };
    script.add(Who::User, words);
    accept(&content)
}

fn accept(content: &Value) -> ElicitResult {
    ElicitResult::accept_with(content).unwrap_or_else(|_| ElicitResult::cancel())
}

/// The number of the cheapest flight in a list, if it is one.
fn cheapest(message: &str) -> Option<&str> {
    let flights = message.lines().filter_map(|line| {
        let (rest, _) = line.rsplit_once(" euros")?;
        let (rest, price) = rest.rsplit_once(", ")?;
        let (id, _) = rest.split_once(" to ")?;
        Some((price.parse::<u32>().ok()?, id))
    });
    flights.min_by_key(|(price, _)| *price).map(|(_, id)| id)
}

/// What the model writes. It is not a very good one.
fn write(question: &CreateMessageParams, script: &Script) -> CreateMessageResult {
    let last = question.messages.last();
    let texts = last
        .iter()
        .flat_map(|message| message.content.blocks())
        .filter_map(SamplingBlock::as_text);
    let asked = texts.collect::<Vec<_>>().join("\n");
    script.add(Who::ServerToModel, &asked);
    let facts = asked
        .split_once(": ")
        .map_or(asked.as_str(), |(_, facts)| facts);
    let answer = format!("You fly with {facts}.");
    script.add(Who::Model, &answer);
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

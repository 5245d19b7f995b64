//! A recording, sorted into requests and what came of them.

use std::collections::HashMap;

use bowline::proto::{
    jsonrpc::RequestId,
    model::{meta::key, method},
};
use serde_json::{Value, value::RawValue};

use super::{
    message::{Answer, Message, Request},
    recording::Recording,
};

/// A request of the client's, and all that the server said because of it.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) request: Request,
    /// What came before the answer.
    pub(super) before: Vec<Step>,
    /// None where the recording, or the connection, ended first.
    pub(super) answer: Option<Answer>,
    /// What came after it, before anything else was asked.
    pub(super) after: Vec<Step>,
}

/// Something that the server said besides answers.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Tell(Box<RawValue>),
    Ask {
        request: Request,
        /// What the client said to it.
        answer: Option<Answer>,
    },
}

impl Exchange {
    /// Whether it stays open for as long as the client likes.
    pub(super) fn listens(&self) -> bool {
        self.request.method == method::SUBSCRIPTIONS_LISTEN
    }
}

/// Sorts a recording. The exchanges stand in the order of their requests.
pub(super) fn sort(recording: &Recording) -> Vec<Exchange> {
    let mut sorter = Sorter::default();
    for recorded in &recording.messages {
        for message in Message::all(recorded.message.get()) {
            if recorded.sent {
                sorter.sent(recorded.link, message);
            } else {
                sorter.received(recorded.link, message);
            }
        }
    }
    sorter.exchanges
}

#[derive(Default)]
struct Sorter {
    exchanges: Vec<Exchange>,
    /// The exchanges that wait for an answer, in the order of their requests.
    open: Vec<(u32, usize)>,
    /// The one that was answered last, by link.
    done: HashMap<u32, usize>,
    /// The server's own requests: where they stand.
    asked: HashMap<(u32, RequestId), Place>,
}

/// Where a step stands.
#[derive(Clone, Copy)]
struct Place {
    exchange: usize,
    after: bool,
    step: usize,
}

impl Sorter {
    fn sent(&mut self, link: u32, message: Message) {
        match message {
            Message::Request(request) => {
                self.open.push((link, self.exchanges.len()));
                self.exchanges.push(Exchange {
                    request,
                    before: Vec::new(),
                    answer: None,
                    after: Vec::new(),
                });
            }
            Message::Answer { id, answer } => {
                if let Some(place) = self.asked.remove(&(link, id)) {
                    let exchange = &mut self.exchanges[place.exchange];
                    let steps = match place.after {
                        true => &mut exchange.after,
                        false => &mut exchange.before,
                    };
                    if let Some(Step::Ask { answer: slot, .. }) = steps.get_mut(place.step) {
                        *slot = Some(answer);
                    }
                }
            }
            Message::Notification { .. } => {}
        }
    }

    fn received(&mut self, link: u32, message: Message) {
        match message {
            Message::Answer { id, answer } => {
                let of_this =
                    |(its, at): &(u32, usize)| *its == link && self.exchanges[*at].request.id == id;
                if let Some(open) = self.open.iter().position(of_this) {
                    let (_, at) = self.open.remove(open);
                    self.exchanges[at].answer = Some(answer);
                    self.done.insert(link, at);
                }
            }
            Message::Notification { frame, .. } => {
                let params: Value = serde_json::from_str(frame.get()).unwrap_or_default();
                let place = self.place(link, &params["params"]);
                self.add(place, Step::Tell(frame));
            }
            Message::Request(request) => {
                let id = request.id.clone();
                let place = self.place(link, &Value::Null);
                let answer = None;
                if let Some(place) = self.add(place, Step::Ask { request, answer }) {
                    self.asked.insert((link, id), place);
                }
            }
        }
    }

    /// Where something belongs that the server said: to the request that it
    /// names, or to the latest one under way, or behind the one that was
    /// answered last.
    fn place(&self, link: u32, params: &Value) -> Option<(usize, bool)> {
        let open = || {
            let of_link = self.open.iter().rev().filter(move |(its, _)| *its == link);
            of_link.map(|(_, at)| *at)
        };
        let token = params.get("progressToken");
        let stream = params
            .get("_meta")
            .and_then(|meta| meta.get(key::SUBSCRIPTION_ID));
        let named = open().find(|&at| {
            let request = &self.exchanges[at].request;
            (token.is_some() && request.progress_token() == token)
                || (stream.is_some() && serde_json::to_value(&request.id).ok().as_ref() == stream)
        });
        let latest = || open().find(|&at| !self.exchanges[at].listens());
        let last = || self.done.get(&link).map(|at| (*at, true));
        let before = |at| (at, false);
        named.or_else(latest).map(before).or_else(last)
    }

    fn add(&mut self, place: Option<(usize, bool)>, step: Step) -> Option<Place> {
        let (exchange, after) = place?;
        let it = &mut self.exchanges[exchange];
        let steps = if after { &mut it.after } else { &mut it.before };
        steps.push(step);
        let step = steps.len() - 1;
        Some(Place {
            exchange,
            after,
            step,
        })
    }
}

//! A recording, grouped into requests and their responses.

use std::collections::HashMap;

use bowline::{
    model::{meta::key, method},
    proto::jsonrpc::RequestId,
};
use serde_json::{Value, value::RawValue};

use super::{
    message::{Message, Request, ResponseBody},
    recording::Recording,
};

/// A client's request, and everything the server sent because of it.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) request: Request,
    /// Messages before the response.
    pub(super) before: Vec<ServerMessage>,
    /// `None` if the recording or the connection ended first.
    pub(super) response: Option<ResponseBody>,
    /// Messages after it, before the next request.
    pub(super) after: Vec<ServerMessage>,
}

/// A server message other than a response.
#[derive(Clone, Debug)]
pub(super) enum ServerMessage {
    Notification(Box<RawValue>),
    Request {
        request: Request,
        /// The client's response to it.
        body: Option<ResponseBody>,
    },
}

impl Exchange {
    /// Returns whether it stays open until the client ends it.
    pub(super) fn is_subscription(&self) -> bool {
        self.request.method == method::SUBSCRIPTIONS_LISTEN
    }
}

/// Groups a recording into exchanges, in the order of their requests.
pub(super) fn group_exchanges(recording: &Recording) -> Vec<Exchange> {
    let mut sorter = ExchangeBuilder::default();
    for recorded in &recording.messages {
        for message in Message::parse_all(recorded.message.get()) {
            if recorded.sent {
                sorter.add_sent(recorded.link, message);
            } else {
                sorter.add_received(recorded.link, message);
            }
        }
    }
    sorter.exchanges
}

impl Recording {
    /// Returns the results of tool calls, each with the tool's name.
    pub(crate) fn tool_results(&self) -> impl Iterator<Item = (String, Value)> {
        let exchanges = group_exchanges(self).into_iter();
        exchanges.filter_map(|exchange| match (exchange.request, exchange.response) {
            (request, Some(ResponseBody::Result(result)))
                if request.method == method::TOOLS_CALL =>
            {
                let name = request.params.get("name")?.as_str()?.to_owned();
                Some((name, serde_json::from_str(&result).ok()?))
            }
            _ => None,
        })
    }
}

#[derive(Default)]
struct ExchangeBuilder {
    exchanges: Vec<Exchange>,
    /// The exchanges without a response, in the order of their requests.
    open: Vec<(u32, usize)>,
    /// The one that was answered last, by link.
    last_done: HashMap<u32, usize>,
    /// The positions of the server's own requests.
    questions: HashMap<(u32, RequestId), StepPosition>,
}

/// The position of a step.
#[derive(Clone, Copy)]
struct StepPosition {
    exchange: usize,
    after: bool,
    step: usize,
}

impl ExchangeBuilder {
    fn add_sent(&mut self, link: u32, message: Message) {
        match message {
            Message::Request(request) => {
                self.open.push((link, self.exchanges.len()));
                self.exchanges.push(Exchange {
                    request,
                    before: Vec::new(),
                    response: None,
                    after: Vec::new(),
                });
            }
            Message::Response { id, body } => {
                if let Some(position) = self.questions.remove(&(link, id)) {
                    let exchange = &mut self.exchanges[position.exchange];
                    let steps = match position.after {
                        true => &mut exchange.after,
                        false => &mut exchange.before,
                    };
                    if let Some(ServerMessage::Request { body: slot, .. }) =
                        steps.get_mut(position.step)
                    {
                        *slot = Some(body);
                    }
                }
            }
            Message::Notification { .. } => {}
        }
    }

    fn add_received(&mut self, link: u32, message: Message) {
        match message {
            Message::Response { id, body } => {
                let is_match = |(other_link, index): &(u32, usize)| {
                    *other_link == link && self.exchanges[*index].request.id == id
                };
                if let Some(open) = self.open.iter().position(is_match) {
                    let (_, index) = self.open.remove(open);
                    self.exchanges[index].response = Some(body);
                    self.last_done.insert(link, index);
                }
            }
            Message::Notification { frame, .. } => {
                let params: Value = serde_json::from_str(frame.get()).unwrap_or_default();
                let position = self.locate(link, &params["params"]);
                self.add(position, ServerMessage::Notification(frame));
            }
            Message::Request(request) => {
                let id = request.id.clone();
                let position = self.locate(link, &Value::Null);
                let body = None;
                if let Some(position) = self.add(position, ServerMessage::Request { request, body })
                {
                    self.questions.insert((link, id), position);
                }
            }
        }
    }

    /// Returns where a server message belongs: to the request it names, to the
    /// latest one in flight, or after the one answered last.
    fn locate(&self, link: u32, params: &Value) -> Option<(usize, bool)> {
        let open = || {
            let of_link = self
                .open
                .iter()
                .rev()
                .filter(move |(other_link, _)| *other_link == link);
            of_link.map(|(_, index)| *index)
        };
        let token = params.get("progressToken");
        let stream = params
            .get("_meta")
            .and_then(|meta| meta.get(key::SUBSCRIPTION_ID));
        let named = open().find(|&index| {
            let request = &self.exchanges[index].request;
            (token.is_some() && request.progress_token() == token)
                || (stream.is_some() && serde_json::to_value(&request.id).ok().as_ref() == stream)
        });
        let latest = || open().find(|&index| !self.exchanges[index].is_subscription());
        let last = || self.last_done.get(&link).map(|index| (*index, true));
        let before = |index| (index, false);
        named.or_else(latest).map(before).or_else(last)
    }

    fn add(
        &mut self,
        position: Option<(usize, bool)>,
        step: ServerMessage,
    ) -> Option<StepPosition> {
        let (exchange, after) = position?;
        let it = &mut self.exchanges[exchange];
        let steps = if after { &mut it.after } else { &mut it.before };
        steps.push(step);
        let step = steps.len() - 1;
        Some(StepPosition {
            exchange,
            after,
            step,
        })
    }
}

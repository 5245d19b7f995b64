//! Making recorded requests again, and comparing what comes of them.

use std::{collections::HashMap, time::Duration};

use bowline::{
    proto::{
        model::{meta::key, method},
        revision::Revision,
    },
    transport::Transport,
};
use serde_json::{Map, Value, json};

use super::{
    difference::{Difference, covers, differences},
    exchange::Exchange,
    live::Live,
    message::{Answer, Request},
};
use crate::{departure::Departure, failure::Failure};

/// How to check.
pub(crate) struct Rules {
    /// Whether to repeat what may have effects.
    pub(crate) all: bool,
    /// The places that may differ.
    pub(crate) ignore: Vec<String>,
    /// How long one answer may take.
    pub(crate) patience: Duration,
    /// The revision that the recording is in.
    pub(crate) revision: Option<Revision>,
    /// What has to end before the command does.
    pub(crate) departure: Departure,
}

/// What became of a request.
#[derive(Debug)]
pub(crate) struct Checked {
    /// What it is about: `tools/call echo`.
    pub(crate) label: String,
    pub(crate) verdict: Verdict,
}

/// How an answer compares with the recorded one.
#[derive(Debug)]
pub(crate) enum Verdict {
    Same,
    Different(Vec<Difference>),
    /// It was not made again, for this reason.
    Skipped(&'static str),
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) checked: Vec<Checked>,
    /// What differs and does not count.
    pub(crate) notes: Vec<String>,
}

impl Findings {
    /// How many are the same, different, skipped.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let mut counts = (0, 0, 0);
        for checked in &self.checked {
            match checked.verdict {
                Verdict::Same => counts.0 += 1,
                Verdict::Different(_) => counts.1 += 1,
                Verdict::Skipped(_) => counts.2 += 1,
            }
        }
        counts
    }
}

/// Makes the requests of a recording again, in their order. `tell` hears of
/// each as soon as it is known.
pub(super) async fn check(
    exchanges: &[Exchange],
    transport: Box<dyn Transport>,
    rules: &Rules,
    mut tell: impl FnMut(&Checked) -> Result<(), Failure>,
) -> Result<Findings, Failure> {
    let live = Live::dial(transport, rules.patience, &rules.departure).await?;
    let mut checker = Checker {
        live,
        rules,
        open: false,
        harmless: None,
        notes: Vec::new(),
    };
    let checked = checker.check_all(exchanges, &mut tell).await;
    checker.live.close();
    Ok(Findings {
        checked: checked?,
        notes: checker.notes,
    })
}

struct Checker<'a> {
    live: Live,
    rules: &'a Rules,
    /// Whether the session is open.
    open: bool,
    /// Whether each tool may be called again, as the server says; none until it
    /// was asked.
    harmless: Option<HashMap<String, bool>>,
    notes: Vec<String>,
}

impl Checker<'_> {
    async fn check_all(
        &mut self,
        exchanges: &[Exchange],
        tell: &mut impl FnMut(&Checked) -> Result<(), Failure>,
    ) -> Result<Vec<Checked>, Failure> {
        let mut all = Vec::new();
        for exchange in exchanges {
            let verdict = self.check(exchange).await?;
            let checked = Checked {
                label: exchange.request.label(),
                verdict,
            };
            tell(&checked)?;
            all.push(checked);
        }
        Ok(all)
    }

    async fn check(&mut self, exchange: &Exchange) -> Result<Verdict, Failure> {
        let request = &exchange.request;
        let Some(was) = &exchange.answer else {
            return Ok(Verdict::Skipped(match exchange.listens() {
                true => "streams of changes are not compared",
                false => "no answer was recorded",
            }));
        };
        if let Some(why) = self.reason_to_skip(request).await? {
            return Ok(Verdict::Skipped(why));
        }
        let is = self.live.ask(request, &exchange.before).await?;
        if opens(&request.method) && matches!(is, Answer::Result(_)) {
            self.opened(request, &is).await?;
        }
        let mut found = compare(was, &is, &mut self.notes);
        found.retain(|it| {
            let ignored = |pattern: &String| covers(pattern, &it.path);
            !self.rules.ignore.iter().any(ignored)
        });
        Ok(match found.is_empty() {
            true => Verdict::Same,
            false => Verdict::Different(found),
        })
    }

    async fn opened(&mut self, request: &Request, answer: &Answer) -> Result<(), Failure> {
        self.open = true;
        let agreed = answer.value();
        let agreed = agreed["protocolVersion"].as_str().and_then(Revision::parse);
        if let Some(revision) = agreed.or(self.rules.revision) {
            self.live.settle(revision);
        }
        match request.method == method::INITIALIZE {
            true => self.live.tell(method::INITIALIZED).await,
            false => Ok(()),
        }
    }

    async fn reason_to_skip(&mut self, request: &Request) -> Result<Option<&'static str>, Failure> {
        if opens(&request.method) && self.open {
            return Ok(Some("the session is open already"));
        }
        if self.rules.all {
            return Ok(None);
        }
        if request.method != method::TOOLS_CALL {
            let harmless = is_harmless(&request.method);
            return Ok((!harmless).then_some("it may have effects; --all makes it again"));
        }
        if self.harmless.is_none() {
            self.harmless = Some(self.ask_for_tools(request).await?);
        }
        let name = request.params["name"].as_str().unwrap_or_default();
        let tools = self.harmless.as_ref().and_then(|tools| tools.get(name));
        Ok(match tools {
            Some(true) => None,
            Some(false) => Some("not marked read-only or idempotent; --all calls it again"),
            None => Some("the server does not list this tool; --all calls it again"),
        })
    }

    /// Asks the server which tools may be called again. It is the live server
    /// that counts: it is what would be changed.
    async fn ask_for_tools(&mut self, like: &Request) -> Result<HashMap<String, bool>, Failure> {
        let mut tools = HashMap::new();
        let mut params = Map::new();
        if let Some(meta) = like.params.get("_meta") {
            params.insert("_meta".to_owned(), meta.clone());
        }
        let mut cursors: Vec<Value> = Vec::new();
        loop {
            let request = Request {
                id: like.id.clone(),
                method: method::TOOLS_LIST.to_owned(),
                raw: String::new(),
                params: Value::Object(params.clone()),
            };
            let page = self.live.ask(&request, &[]).await?.value();
            for tool in page["tools"].as_array().into_iter().flatten() {
                let hint = |name: &str| tool["annotations"][name] == Value::Bool(true);
                let name = tool["name"].as_str().unwrap_or_default();
                let harmless = hint("readOnlyHint") || hint("idempotentHint");
                tools.insert(name.to_owned(), harmless);
            }
            match page.get("nextCursor") {
                Some(next) if !cursors.contains(next) => {
                    cursors.push(next.clone());
                    params.insert("cursor".to_owned(), next.clone());
                }
                _ => return Ok(tools),
            }
        }
    }
}

fn opens(method: &str) -> bool {
    matches!(method, method::INITIALIZE | method::DISCOVER)
}

/// Whether a request of this method changes nothing that matters.
fn is_harmless(method: &str) -> bool {
    matches!(
        method,
        method::INITIALIZE
            | method::DISCOVER
            | method::PING
            | method::TOOLS_LIST
            | method::RESOURCES_LIST
            | method::RESOURCES_TEMPLATES_LIST
            | method::RESOURCES_READ
            | method::RESOURCES_SUBSCRIBE
            | method::RESOURCES_UNSUBSCRIBE
            | method::PROMPTS_LIST
            | method::PROMPTS_GET
            | method::COMPLETION_COMPLETE
            | method::LOGGING_SET_LEVEL
            | method::TASKS_GET
            | method::TASKS_LIST
    )
}

/// How two answers differ, apart from what differs by nature.
fn compare(was: &Answer, is: &Answer, notes: &mut Vec<String>) -> Vec<Difference> {
    match (was, is) {
        (Answer::Result(_), Answer::Result(_)) => {
            let (was, is) = (was.value(), is.value());
            note_version(&was, &is, notes);
            differences(&lasting(was), &lasting(is))
        }
        (Answer::Error(_), Answer::Error(_)) => {
            let named = |answer: &Answer| json!({"error": answer.value()});
            differences(&named(was), &named(is))
        }
        _ => {
            let named = |answer: &Answer| match answer {
                Answer::Result(_) => json!({"result": answer.value()}),
                Answer::Error(_) => json!({"error": answer.value()}),
            };
            vec![Difference {
                path: "answer".to_owned(),
                was: Some(named(was)),
                is: Some(named(is)),
            }]
        }
    }
}

/// A result without what is new each time.
fn lasting(mut result: Value) -> Value {
    if let Value::Object(members) = &mut result {
        members.remove("_meta");
        members.remove("requestState");
        if let Some(Value::Object(server)) = members.get_mut("serverInfo") {
            server.remove("version");
        }
    }
    result
}

fn note_version(was: &Value, is: &Value, notes: &mut Vec<String>) {
    let version = |result: &Value| {
        let server = match result.get("serverInfo") {
            Some(server) => server,
            None => result.get("_meta")?.get(key::SERVER_INFO)?,
        };
        server.get("version")?.as_str().map(str::to_owned)
    };
    if let (Some(was), Some(is)) = (version(was), version(is)) {
        let note = format!("the server's version was {was}, is {is}");
        if was != is && !notes.contains(&note) {
            notes.push(note);
        }
    }
}

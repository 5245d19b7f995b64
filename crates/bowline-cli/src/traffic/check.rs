//! Repeating recorded requests and comparing the results.

use std::{collections::HashMap, time::Duration};

use bowline::{
    Revision,
    model::{meta::key, method},
    transport::Transport,
};
use serde_json::{Map, Value, json};

use super::{
    difference::{Difference, covers, differences},
    exchange::Exchange,
    live::LiveLink,
    message::{Request, ResponseBody},
};
use crate::{failure::Failure, shutdown::Shutdown};

/// Options for the comparison.
pub(crate) struct CheckOptions {
    /// Whether to repeat requests that may have side effects.
    pub(crate) all: bool,
    /// The paths that may differ.
    pub(crate) ignore: Vec<String>,
    /// Time limit of one response.
    pub(crate) timeout: Duration,
    /// The revision of the recording.
    pub(crate) revision: Option<Revision>,
    /// Tracks what must end before the command does.
    pub(crate) shutdown: Shutdown,
}

/// The result for one request.
#[derive(Debug)]
pub(crate) struct CheckedRequest {
    /// A short label: `tools/call echo`.
    pub(crate) label: String,
    pub(crate) verdict: Verdict,
}

/// How a response compares with the recorded one.
#[derive(Debug)]
pub(crate) enum Verdict {
    Same,
    Different(Vec<Difference>),
    /// It was not repeated, for this reason.
    Skipped(&'static str),
}

/// The results.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) checked: Vec<CheckedRequest>,
    /// Differences that do not count.
    pub(crate) notes: Vec<String>,
}

impl Findings {
    /// Returns how many are equal, different, skipped.
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

/// Repeats the requests of a recording in order. Calls `on_checked` with each
/// result as soon as it is known.
pub(super) async fn check(
    exchanges: &[Exchange],
    transport: Box<dyn Transport>,
    options: &CheckOptions,
    mut on_checked: impl FnMut(&CheckedRequest) -> Result<(), Failure>,
) -> Result<Findings, Failure> {
    let live = LiveLink::dial(transport, options.timeout, &options.shutdown).await?;
    let mut checker = Checker {
        live,
        options,
        is_open: false,
        harmless_tools: None,
        notes: Vec::new(),
    };
    let checked = checker.check_all(exchanges, &mut on_checked).await;
    checker.live.close();
    Ok(Findings {
        checked: checked?,
        notes: checker.notes,
    })
}

struct Checker<'a> {
    live: LiveLink,
    options: &'a CheckOptions,
    /// Whether the session is open.
    is_open: bool,
    /// Whether each tool may be called again, according to the server; `None`
    /// until it was asked.
    harmless_tools: Option<HashMap<String, bool>>,
    notes: Vec<String>,
}

impl Checker<'_> {
    async fn check_all(
        &mut self,
        exchanges: &[Exchange],
        on_checked: &mut impl FnMut(&CheckedRequest) -> Result<(), Failure>,
    ) -> Result<Vec<CheckedRequest>, Failure> {
        let mut all = Vec::new();
        for exchange in exchanges {
            let verdict = self.check(exchange).await?;
            let checked = CheckedRequest {
                label: exchange.request.label(),
                verdict,
            };
            on_checked(&checked)?;
            all.push(checked);
        }
        Ok(all)
    }

    async fn check(&mut self, exchange: &Exchange) -> Result<Verdict, Failure> {
        let request = &exchange.request;
        let Some(recorded) = &exchange.response else {
            return Ok(Verdict::Skipped(match exchange.is_subscription() {
                true => "subscription streams are not compared",
                false => "no response was recorded",
            }));
        };
        if let Some(why) = self.reason_to_skip(request).await? {
            return Ok(Verdict::Skipped(why));
        }
        let actual = self.live.request(request, &exchange.before).await?;
        if is_opening(&request.method) && matches!(actual, ResponseBody::Result(_)) {
            self.finish_opening(request, &actual).await?;
        }
        let mut found = compare(recorded, &actual, &mut self.notes);
        found.retain(|it| {
            let ignored = |pattern: &String| covers(pattern, &it.path);
            !self.options.ignore.iter().any(ignored)
        });
        Ok(match found.is_empty() {
            true => Verdict::Same,
            false => Verdict::Different(found),
        })
    }

    async fn finish_opening(
        &mut self,
        request: &Request,
        body: &ResponseBody,
    ) -> Result<(), Failure> {
        self.is_open = true;
        let agreed = body.value();
        let agreed = agreed["protocolVersion"].as_str().and_then(Revision::parse);
        if let Some(revision) = agreed.or(self.options.revision) {
            self.live.set_revision(revision);
        }
        match request.method == method::INITIALIZE {
            true => self.live.notify(method::INITIALIZED).await,
            false => Ok(()),
        }
    }

    async fn reason_to_skip(&mut self, request: &Request) -> Result<Option<&'static str>, Failure> {
        if is_opening(&request.method) && self.is_open {
            return Ok(Some("the session is already open"));
        }
        if self.options.all {
            return Ok(None);
        }
        if request.method != method::TOOLS_CALL {
            let harmless = is_harmless(&request.method);
            return Ok((!harmless).then_some("it may have side effects; use --all to repeat it"));
        }
        if self.harmless_tools.is_none() {
            self.harmless_tools = Some(self.list_harmless_tools(request).await?);
        }
        let name = request.params["name"].as_str().unwrap_or_default();
        let tools = self
            .harmless_tools
            .as_ref()
            .and_then(|tools| tools.get(name));
        Ok(match tools {
            Some(true) => None,
            Some(false) => Some("not marked read-only or idempotent; use --all to repeat it"),
            None => Some("the server does not list this tool; use --all to repeat it"),
        })
    }

    /// Lists which tools may be called again. The live server decides: it is
    /// the one that would be changed.
    async fn list_harmless_tools(
        &mut self,
        template: &Request,
    ) -> Result<HashMap<String, bool>, Failure> {
        let mut tools = HashMap::new();
        let mut params = Map::new();
        if let Some(meta) = template.params.get("_meta") {
            params.insert("_meta".to_owned(), meta.clone());
        }
        let mut cursors: Vec<Value> = Vec::new();
        loop {
            let request = Request {
                id: template.id.clone(),
                method: method::TOOLS_LIST.to_owned(),
                raw_params: String::new(),
                params: Value::Object(params.clone()),
            };
            let page = self.live.request(&request, &[]).await?.value();
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

fn is_opening(method: &str) -> bool {
    matches!(method, method::INITIALIZE | method::DISCOVER)
}

/// Returns whether requests of this method have no side effects that matter.
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

/// Returns how two responses differ, ignoring values that always differ.
fn compare(
    recorded: &ResponseBody,
    actual: &ResponseBody,
    notes: &mut Vec<String>,
) -> Vec<Difference> {
    match (recorded, actual) {
        (ResponseBody::Result(_), ResponseBody::Result(_)) => {
            let (recorded, actual) = (recorded.value(), actual.value());
            note_version(&recorded, &actual, notes);
            differences(&without_volatile(recorded), &without_volatile(actual))
        }
        (ResponseBody::Error(_), ResponseBody::Error(_)) => {
            let labelled = |body: &ResponseBody| json!({"error": body.value()});
            differences(&labelled(recorded), &labelled(actual))
        }
        _ => {
            let labelled = |body: &ResponseBody| match body {
                ResponseBody::Result(_) => json!({"result": body.value()}),
                ResponseBody::Error(_) => json!({"error": body.value()}),
            };
            vec![Difference {
                path: "answer".to_owned(),
                recorded: Some(labelled(recorded)),
                actual: Some(labelled(actual)),
            }]
        }
    }
}

/// Removes values that differ every time.
fn without_volatile(mut result: Value) -> Value {
    if let Value::Object(members) = &mut result {
        members.remove("_meta");
        members.remove("requestState");
        if let Some(Value::Object(server)) = members.get_mut("serverInfo") {
            server.remove("version");
        }
    }
    result
}

fn note_version(recorded: &Value, actual: &Value, notes: &mut Vec<String>) {
    let version = |result: &Value| {
        let server = match result.get("serverInfo") {
            Some(server) => server,
            None => result.get("_meta")?.get(key::SERVER_INFO)?,
        };
        server.get("version")?.as_str().map(str::to_owned)
    };
    if let (Some(recorded), Some(actual)) = (version(recorded), version(actual)) {
        let note = format!("the server's version was {recorded}, now is {actual}");
        if recorded != actual && !notes.contains(&note) {
            notes.push(note);
        }
    }
}

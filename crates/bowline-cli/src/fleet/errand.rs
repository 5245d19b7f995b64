//! Tools that many servers have under one name or another: one that searches,
//! one that brings the server up to date.

use bowline::{
    Client,
    proto::model::{CallToolResult, Tool},
};
use serde_json::{Map, Value, json};

use super::visit::visit_one;
use crate::{
    context::Context,
    failure::Failure,
    output::clean,
    target::{Target, interruptible},
};

/// What a tool is looked for to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Errand {
    /// The names by which it usually goes, the best first.
    pub(crate) names: &'static [&'static str],
    /// How other names for it begin.
    pub(crate) prefix: &'static str,
    /// What it does, as in "has no tool that searches".
    pub(crate) does: &'static str,
}

/// Searching what a server holds.
pub(crate) const SEARCH: Errand = Errand {
    names: &["search_notes", "search"],
    prefix: "search",
    does: "searches",
};

/// Bringing a server up to date.
pub(crate) const SYNC: Errand = Errand {
    names: &["sync_repository", "sync"],
    prefix: "sync",
    does: "syncs",
};

impl Errand {
    /// The tools that may do it: the one that surely does, or all that might.
    pub(crate) fn fitting<'a>(&self, tools: &'a [Tool]) -> Vec<&'a Tool> {
        let usual = self
            .names
            .iter()
            .find_map(|name| tools.iter().find(|tool| tool.name == *name));
        if let Some(tool) = usual {
            return vec![tool];
        }
        let fits = |tool: &&Tool| tool.name.to_lowercase().starts_with(self.prefix);
        tools.iter().filter(fits).collect()
    }

    /// There is none, or there are several.
    pub(crate) fn unclear(&self, fitting: &[&Tool]) -> Failure {
        let does = self.does;
        if fitting.is_empty() {
            return Failure::failed(format!("the server has no tool that {does}"))
                .hint("`bowline list` shows the tools that it has");
        }
        let names: Vec<_> = fitting.iter().map(|tool| tool.name.as_str()).collect();
        Failure::usage(format!(
            "there are several tools that might: {}",
            names.join(", ")
        ))
        .hint("say which with --tool NAME")
    }
}

/// Asks the search tools of servers, and shows what they say.
pub(crate) async fn own_search(
    cx: &Context,
    targets: &[Target],
    query: &str,
    limit: usize,
) -> Result<(), Failure> {
    let (mut results, mut failed) = (Vec::new(), None);
    for target in targets {
        let asked = interruptible(visit_one(
            cx,
            target,
            super::ERRAND,
            async |client: Client| {
                let tools = client.tools().list().await?;
                let fitting = SEARCH.fitting(&tools);
                let [tool] = fitting[..] else {
                    return Err(SEARCH.unclear(&fitting));
                };
                let arguments = arguments(tool, query, limit)?;
                Ok(client.tools().call(&tool.name, arguments).await?)
            },
        ));
        let result = asked
            .await
            .map_err(|failure| failure.about(target.name()))?;
        if !cx.json() {
            show(cx, target.name(), &result)?;
        } else if result.failed() {
            let failure = Failure::failed("its search failed").about(target.name());
            failed.get_or_insert(failure);
        }
        results.push(json!({"server": target.name(), "result": result}));
    }
    match (cx.json(), &mut results[..]) {
        (true, [one]) => cx.output.json(&one["result"].take())?,
        (true, all) => cx.output.json(&json!({ "results": all }))?,
        (false, _) => {}
    }
    failed.map_or(Ok(()), Err)
}

/// Shows what a tool said, or that it failed.
pub(crate) fn show(cx: &Context, server: &str, result: &CallToolResult) -> Result<(), Failure> {
    let text = result.all_text();
    if result.failed() {
        return Err(Failure::failed(clean(&text)).about(server));
    }
    cx.output.line(clean(text.trim_end()))
}

/// The arguments by which a tool is told what to search for, as far as its
/// schema says what it calls them.
fn arguments(tool: &Tool, query: &str, limit: usize) -> Result<Value, Failure> {
    let schema = tool.input_schema_or_empty();
    let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    let none = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&none);
    let one_of = |names: &[&str]| {
        let name = names.iter().find(|name| known.contains_key(**name));
        name.map(|name| (*name).to_owned())
    };
    let only_text = || {
        let mut texts = known
            .iter()
            .filter(|(_, schema)| schema["type"] == "string");
        let (name, _) = texts.next()?;
        texts.next().is_none().then(|| name.clone())
    };
    let text = one_of(&["query", "q", "text", "search", "pattern"]).or_else(only_text);
    let text = text.ok_or_else(|| {
        Failure::failed(format!(
            "it is not clear how {} is told what to search for",
            tool.name
        ))
        .hint("call it yourself with `bowline call`")
    })?;
    let mut arguments = Map::new();
    arguments.insert(text, json!(query));
    if let Some(most) = one_of(&["limit", "max_results", "maxResults", "count"]) {
        arguments.insert(most, json!(limit));
    }
    Ok(Value::Object(arguments))
}

#[cfg(test)]
mod tests {
    use bowline::proto::jsonrpc::RawJson;

    use super::*;

    fn tool(name: &str, schema: &Value) -> Tool {
        let mut tool = Tool::new(name);
        tool.input_schema = RawJson::encode(schema).ok();
        tool
    }

    #[test]
    fn the_usual_name_wins() {
        let tools = ["sync_all", "sync_repository", "search"].map(|name| tool(name, &json!({})));
        let names = |errand: Errand, tools: &[Tool]| {
            let fitting = errand.fitting(tools);
            fitting
                .iter()
                .map(|tool| tool.name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(SYNC, &tools), ["sync_repository"]);
        assert_eq!(names(SYNC, &tools[..1]), ["sync_all"]);
        assert_eq!(names(SEARCH, &tools[..1]), [] as [String; 0]);
    }

    #[test]
    fn a_schema_says_how_to_search() {
        let text = json!({"type": "string"});
        let cases = [
            (
                json!({"query": text, "limit": {}}),
                Some(json!({"query": "a", "limit": 5})),
            ),
            (json!({"needle": text}), Some(json!({"needle": "a"}))),
            (json!({"number": {"type": "integer"}}), None),
            (json!({"from": text, "to": text}), None),
        ];
        for (properties, expected) in cases {
            let tool = tool(
                "search",
                &json!({"type": "object", "properties": properties}),
            );
            assert_eq!(arguments(&tool, "a", 5).ok(), expected, "{properties}");
        }
    }
}

//! Tools that servers have under different names: one that searches, one that
//! syncs.

use bowline::{
    Client,
    model::{CallToolResult, Tool},
};
use bowline_schema::shape::{Type, TypeKind};
use serde_json::{Map, Value, json};

use super::run::run_on_one;
use crate::{
    context::Context,
    failure::Failure,
    output::escape_control,
    signature::{parameters, parse_shape},
    target::{Target, interruptible},
};

/// A purpose for which a tool is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolRole {
    /// Usual names of such a tool, best first.
    pub(crate) names: &'static [&'static str],
    /// Prefix of other names for it.
    pub(crate) prefix: &'static str,
    /// What it does, as in "has no tool that searches".
    pub(crate) verb: &'static str,
}

/// Searching the server's contents.
pub(crate) const SEARCH: ToolRole = ToolRole {
    names: &["search_notes", "search"],
    prefix: "search",
    verb: "searches",
};

/// Syncing the server.
pub(crate) const SYNC: ToolRole = ToolRole {
    names: &["sync_repository", "sync"],
    prefix: "sync",
    verb: "syncs",
};

impl ToolRole {
    /// Returns the tools that may have this role: a usual name alone, or all
    /// with the prefix.
    pub(crate) fn candidates<'a>(&self, tools: &'a [Tool]) -> Vec<&'a Tool> {
        let by_name = self
            .names
            .iter()
            .find_map(|name| tools.iter().find(|tool| tool.name == *name));
        if let Some(tool) = by_name {
            return vec![tool];
        }
        let has_prefix = |tool: &&Tool| tool.name.to_lowercase().starts_with(self.prefix);
        tools.iter().filter(has_prefix).collect()
    }

    /// Returns the failure for no candidate, or for several.
    pub(crate) fn ambiguity(&self, matching: &[&Tool]) -> Failure {
        let verb = self.verb;
        if matching.is_empty() {
            return Failure::failed(format!("the server has no tool that {verb}"))
                .hint("`bowline list` shows its tools");
        }
        let names: Vec<_> = matching.iter().map(|tool| tool.name.as_str()).collect();
        Failure::usage(format!("several tools match: {}", names.join(", ")))
            .hint("choose one with --tool NAME")
    }
}

/// Calls the search tools of servers and prints the results.
pub(crate) async fn call_search_tools(
    cx: &Context,
    targets: &[Target],
    query: &str,
    limit: usize,
) -> Result<(), Failure> {
    let (mut results, mut failed) = (Vec::new(), None);
    for target in targets {
        let call = interruptible(run_on_one(
            cx,
            target,
            super::TOOL_TIMEOUT,
            async |client: Client| {
                let tools = client.tools().list().await?;
                let matching = SEARCH.candidates(&tools);
                let [tool] = matching[..] else {
                    return Err(SEARCH.ambiguity(&matching));
                };
                let arguments = search_arguments(tool, query, limit)?;
                Ok(client.tools().call(&tool.name, arguments).await?)
            },
        ));
        let result = call
            .await
            .map_err(|failure| failure.with_prefix(target.name()))?;
        if !cx.json() {
            print_result(cx, target.name(), &result)?;
        } else if result.is_error() {
            let failure = Failure::failed("its search tool failed").with_prefix(target.name());
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

/// Prints the result of a tool, or that it failed.
pub(crate) fn print_result(
    cx: &Context,
    server: &str,
    result: &CallToolResult,
) -> Result<(), Failure> {
    let text = result.all_text();
    if result.is_error() {
        return Err(Failure::failed(escape_control(&text)).with_prefix(server));
    }
    cx.output.line(escape_control(text.trim_end()))
}

/// Builds the arguments of a search tool, as far as its schema tells which one
/// takes the query.
fn search_arguments(tool: &Tool, query: &str, limit: usize) -> Result<Value, Failure> {
    let shape = parse_shape(&tool.input_schema_or_empty());
    let known = parameters(&shape);
    let first_known = |names: &[&str]| {
        let mut names = names.iter();
        let name = names.find(|name| known.iter().any(|parameter| parameter.name == **name));
        name.map(|name| (*name).to_owned())
    };
    let is_string = |ty: &&Type| matches!(shape.resolve(ty).kind, TypeKind::String(_));
    let only_string = || {
        let mut strings = known
            .iter()
            .filter(|parameter| parameter.types.iter().all(is_string));
        let parameter = strings.next()?;
        strings.next().is_none().then(|| parameter.name.to_owned())
    };
    let query_name = first_known(&["query", "q", "text", "search", "pattern"]).or_else(only_string);
    let query_name = query_name.ok_or_else(|| {
        Failure::failed(format!(
            "cannot tell which argument of {} takes the query",
            tool.name
        ))
        .hint("call it yourself with `bowline call`")
    })?;
    let mut arguments = Map::new();
    arguments.insert(query_name, json!(query));
    if let Some(limit_name) = first_known(&["limit", "max_results", "maxResults", "count"]) {
        arguments.insert(limit_name, json!(limit));
    }
    Ok(Value::Object(arguments))
}

#[cfg(test)]
mod tests {
    use bowline::RawJson;

    use super::*;

    fn tool(name: &str, schema: &Value) -> Tool {
        let mut tool = Tool::new(name);
        tool.input_schema = RawJson::encode(schema).ok();
        tool
    }

    #[test]
    fn the_usual_name_wins() {
        let tools = ["sync_all", "sync_repository", "search"].map(|name| tool(name, &json!({})));
        let names = |role: ToolRole, tools: &[Tool]| {
            let matching = role.candidates(tools);
            matching
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
        let string = json!({"type": "string"});
        let cases = [
            (
                json!({"query": string, "limit": {}}),
                Some(json!({"query": "a", "limit": 5})),
            ),
            (json!({"needle": string}), Some(json!({"needle": "a"}))),
            (json!({"number": {"type": "integer"}}), None),
            (json!({"from": string, "to": string}), None),
        ];
        for (properties, expected) in cases {
            let tool = tool(
                "search",
                &json!({"type": "object", "properties": properties}),
            );
            assert_eq!(
                search_arguments(&tool, "a", 5).ok(),
                expected,
                "{properties}"
            );
        }
    }
}

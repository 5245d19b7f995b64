//! Tool arguments that are sent as headers, learned from the tool list.

use std::{borrow::Cow, collections::HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::proto::http::header::{HeaderMismatch, ParamHeaders};

/// Maximum number of remembered tools; the rest of a longer list is ignored.
const MAX_TOOLS: usize = 16 * 1024;

/// The tools of one server that have annotated arguments.
#[derive(Debug, Default)]
pub(super) struct ToolHeaders {
    tools: HashMap<Box<str>, ParamHeaders>,
}

impl ToolHeaders {
    /// Records a page of the list. The first page resets the record.
    ///
    /// Tools with invalid annotations are not offered to callers, and tools
    /// without annotations need no entry.
    pub(super) fn record_page(&mut self, result: &[u8], is_first: bool) {
        if is_first {
            self.tools.clear();
        }
        let Ok(page) = serde_json::from_slice::<Page<'_>>(result) else {
            return;
        };
        for tool in page.tools {
            let schema = tool.input_schema.map_or("", RawValue::get);
            match ParamHeaders::from_schema(schema) {
                Ok(headers) if !headers.is_empty() && self.tools.len() < MAX_TOOLS => {
                    self.tools.insert(tool.name.into(), headers);
                }
                _ => {
                    self.tools.remove(&*tool.name);
                }
            }
        }
    }

    /// Returns the names and values of the headers of a call with these
    /// parameters.
    ///
    /// # Errors
    ///
    /// Returns an error if an argument has a value that cannot be sent in a
    /// header.
    pub(super) fn fields(&self, params: &[u8]) -> Result<Vec<(String, String)>, HeaderMismatch> {
        if self.tools.is_empty() {
            return Ok(Vec::new());
        }
        let Ok(call) = serde_json::from_slice::<Call<'_>>(params) else {
            return Ok(Vec::new());
        };
        let Some(headers) = self.tools.get(&*call.name) else {
            return Ok(Vec::new());
        };
        let arguments = call.arguments.map(|arguments| arguments.get().as_bytes());
        let owned = |field: &crate::proto::http::header::HeaderField<'_>| {
            (field.name().to_owned(), field.value().to_owned())
        };
        Ok(headers.fields(arguments)?.iter().map(owned).collect())
    }
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<ListedTool<'a>>,
}

#[derive(Deserialize)]
struct ListedTool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, rename = "inputSchema")]
    input_schema: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = br#"{"tools": [
        {"name": "ask", "inputSchema": {"properties": {
            "place": {"type": "string", "x-mcp-header": "Place"}}}},
        {"name": "plain", "inputSchema": {"properties": {"place": {"type": "string"}}}},
        {"name": "faulty", "inputSchema": {"properties": {
            "place": {"type": "number", "x-mcp-header": "Place"}}}},
        {"name": "bare"}
    ]}"#;

    fn pairs(tools: &ToolHeaders, params: &str) -> Vec<(String, String)> {
        tools.fields(params.as_bytes()).unwrap()
    }

    #[test]
    fn annotated_arguments_become_headers_once_the_tool_is_known() {
        let mut tools = ToolHeaders::default();
        let call = r#"{"name": "ask", "arguments": {"place": "here"}}"#;
        assert_eq!(pairs(&tools, call), []);
        tools.record_page(LIST, true);
        assert_eq!(
            pairs(&tools, call),
            [("mcp-param-place".to_owned(), "here".to_owned())]
        );
        for other in ["plain", "faulty", "bare", "unknown"] {
            let call = format!(r#"{{"name": "{other}", "arguments": {{"place": "here"}}}}"#);
            assert_eq!(pairs(&tools, &call), [], "{other}");
        }
    }

    #[test]
    fn a_first_page_forgets_the_tools_of_before_and_a_later_one_does_not() {
        let mut tools = ToolHeaders::default();
        tools.record_page(LIST, true);
        tools.record_page(br#"{"tools": []}"#, false);
        assert_eq!(tools.tools.len(), 1);
        tools.record_page(br#"{"tools": [{"name": "ask"}]}"#, false);
        assert!(tools.tools.is_empty(), "it lost its annotations");
        tools.record_page(LIST, true);
        tools.record_page(br#"{"tools": []}"#, true);
        assert!(tools.tools.is_empty());
    }

    #[test]
    fn a_value_that_no_header_can_carry_is_refused() {
        let mut tools = ToolHeaders::default();
        tools.record_page(LIST, true);
        let call = br#"{"name": "ask", "arguments": {"place": {}}}"#;
        assert!(tools.fields(call).is_err());
    }
}

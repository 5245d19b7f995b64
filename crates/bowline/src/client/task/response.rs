//! The response to a tool call that may have become a task.

use crate::{
    client::DecodeResult,
    proto::{
        jsonrpc::DecodeError,
        model::{CallToolResult, ResultObject, ResultType},
        task::{Dialect, TaskInfo},
    },
};

/// The response to a tool call.
pub(crate) enum ToolResponse {
    Result(CallToolResult),
    Task(Box<TaskInfo>),
}

impl DecodeResult for ToolResponse {
    /// Decodes a result first: almost all responses are one.
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        let result = <CallToolResult as ResultObject>::decode(json)?;
        let dialect = match &result.result_type {
            Some(ResultType::Task) => Dialect::Extension,
            None if is_core_task(&result) => Dialect::Core,
            _ => return Ok(Self::Result(result)),
        };
        let task = TaskInfo::from_create_result(dialect, json)?;
        Ok(Self::Task(Box::new(task)))
    }
}

/// Returns whether the result has a task instead of everything that makes a result.
fn is_core_task(result: &CallToolResult) -> bool {
    let task = result.extra.get("task");
    task.is_some_and(|task| task.get().contains("\"taskId\""))
        && result.content.is_empty()
        && result.structured_content.is_none()
        && result.is_error.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_told_from_results() {
        let times = r#""createdAt": "", "lastUpdatedAt": """#;
        let core = format!(r#"{{"taskId": "t", "status": "working", "ttl": null, {times}}}"#);
        for (json, expected) in [
            (format!(r#"{{"task": {core}}}"#), Some("t")),
            (format!(r#"{{"task": {core}, "content": []}}"#), Some("t")),
            (
                format!(
                    r#"{{"resultType": "task", "taskId": "u", "status": "odd", "ttlMs": 1, {times}}}"#
                ),
                Some("u"),
            ),
            (format!(r#"{{"task": {core}, "isError": false}}"#), None),
            (
                r#"{"content": [{"type": "text", "text": "t"}]}"#.to_owned(),
                None,
            ),
            (
                r#"{"resultType": "complete", "content": []}"#.to_owned(),
                None,
            ),
            (r#"{"task": "wash up", "content": []}"#.to_owned(), None),
        ] {
            let response = ToolResponse::decode(json.as_bytes()).expect("a response");
            let id = match &response {
                ToolResponse::Task(task) => Some(&*task.id),
                ToolResponse::Result(_) => None,
            };
            assert_eq!(id, expected, "{json}");
        }
        assert!(ToolResponse::decode(br#"{"resultType": "task"}"#).is_err());
    }
}

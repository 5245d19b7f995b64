//! Learning result shapes from recordings.

use std::path::Path;

use bowline::lock::{LockedServer, ObservedOutput};
use serde_json::Value;

use crate::{failure::Failure, traffic::Recording};

/// Adds what a recording shows about the results of tools that declare no output
/// schema. Returns how many results there were.
pub(crate) fn observe_recording(path: &Path, server: &mut LockedServer) -> Result<usize, Failure> {
    let mut observed = 0;
    for (name, result) in Recording::load(path)?.tool_results() {
        let tool = server.tools.get_mut(&name);
        if let Some(tool) = tool.filter(|tool| tool.output_schema.is_none())
            && let Some(value) = result_value(&result)
        {
            let before = tool.observed_output.take();
            tool.observed_output = Some(ObservedOutput::observe(before, &value));
            observed += 1;
        }
    }
    Ok(observed)
}

/// Returns the structured result, or the text as JSON. Failures of tools, results that
/// are not complete and prose have no shape.
fn result_value(result: &Value) -> Option<Value> {
    let is_complete = matches!(result["resultType"].as_str(), None | Some("complete"));
    if result["isError"] == true || !is_complete {
        return None;
    }
    if let Some(value) = result.get("structuredContent") {
        return Some(value.clone());
    }
    match &result["content"].as_array()?[..] {
        [only] => serde_json::from_str(only["text"].as_str()?).ok(),
        _ => None,
    }
}

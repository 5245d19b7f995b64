//! Learning result shapes from recordings.

use std::{collections::HashMap, path::Path};

use bowline::lock::{LockedServer, ObservedOutput};
use serde::Deserialize;
use serde_json::Value;

use crate::{failure::Failure, traffic::Recording};

/// A recorded message, as far as it matters here.
#[derive(Deserialize)]
struct Message {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<Value>,
}

/// Adds what a recording shows about the results of tools that declare no output
/// schema. Returns how many results there were.
pub(crate) fn observe_recording(path: &Path, server: &mut LockedServer) -> Result<usize, Failure> {
    let recording = Recording::load(path)?;
    let mut calls: HashMap<(u32, String), String> = HashMap::new();
    let mut observed = 0;
    for recorded in &recording.messages {
        let Ok(message) = serde_json::from_str::<Message>(recorded.message.get()) else {
            continue;
        };
        let Some(id) = &message.id else { continue };
        let key = (recorded.link, id.to_string());
        match (&message.method, &message.result) {
            (Some(method), _) if recorded.sent && method == "tools/call" => {
                let name = message.params.as_ref().and_then(|it| it["name"].as_str());
                calls.extend(name.map(|name| (key, name.to_owned())));
            }
            (None, Some(result)) if !recorded.sent => {
                let tool = calls.remove(&key);
                let tool = tool.and_then(|name| server.tools.get_mut(&name));
                let value = result_value(result);
                if let (Some(tool), Some(value)) = (tool, value)
                    && tool.output_schema.is_none()
                {
                    let before = tool.observed_output.take();
                    tool.observed_output = Some(ObservedOutput::observe(before, &value));
                    observed += 1;
                }
            }
            _ => {}
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

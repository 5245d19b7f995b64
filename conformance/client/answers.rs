//! How the client's user and its model answer.

use bowline::proto::model::{
    CreateMessageResult, ElicitParams, ElicitResult, Role, SamplingBlock, SamplingContent,
};
use serde_json::{Map, Value, json};

/// Fills a form in: each field with the value that it begins with, or else with
/// one that fits it.
pub fn fill_in(question: &ElicitParams) -> ElicitResult {
    let form = serde_json::to_value(&question.requested_schema).unwrap_or_default();
    let fields = form["properties"].as_object();
    let filled: Map<String, Value> = fields
        .into_iter()
        .flatten()
        .map(|(name, field)| (name.clone(), value_for(field)))
        .collect();
    ElicitResult::accept_with(&filled).unwrap_or_else(|_| ElicitResult::cancel())
}

fn value_for(field: &Value) -> Value {
    if let Some(default) = field.get("default") {
        return default.clone();
    }
    match (field["type"].as_str(), field["enum"].get(0)) {
        (_, Some(first)) => first.clone(),
        (Some("boolean"), _) => json!(true),
        (Some("number" | "integer"), _) => json!(1),
        (Some("array"), _) => json!([]),
        _ => json!("test"),
    }
}

/// A model that always says the same.
pub fn model_says(text: &str) -> CreateMessageResult {
    let content = SamplingContent::from(vec![SamplingBlock::text(text)]);
    CreateMessageResult::new(Role::Assistant, content, "a-model-of-no-words")
}

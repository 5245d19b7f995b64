//! What the lock says about tools and prompts, for every language.

use bowline::lock::{LockedPrompt, LockedTool};
use bowline_schema::shape::{Additional, Shape, TypeKind};
use serde_json::{Map, Value, json};

/// Returns whether there is anything to pass to a tool.
pub(crate) fn takes_arguments(shape: &Shape) -> bool {
    match &shape.resolve(shape.root()).kind {
        TypeKind::Object(object) => {
            let is_stated = matches!(object.additional, Additional::Any | Additional::Typed(_));
            !object.fields.is_empty() || is_stated
        }
        _ => true,
    }
}

/// Returns what the annotations say about the behaviour.
pub(crate) fn hints(tool: &LockedTool) -> Option<String> {
    let annotations = tool.annotations.as_ref()?;
    let hint = |key: &str| annotations[key].as_bool();
    let is_read_only = hint("readOnlyHint") == Some(true);
    let mut words = Vec::new();
    words.extend(is_read_only.then_some("changes nothing"));
    match hint("destructiveHint") {
        Some(true) if !is_read_only => words.push("may destroy data"),
        Some(false) if !is_read_only => words.push("destroys no data"),
        _ => {}
    }
    let is_idempotent = hint("idempotentHint") == Some(true) && !is_read_only;
    words.extend(is_idempotent.then_some("may be repeated"));
    (!words.is_empty()).then(|| format!("According to the server, it {}.", words.join(", ")))
}

/// Returns the arguments of a prompt. They are strings, so a schema describes them as
/// it does those of tools.
pub(crate) fn prompt_arguments(prompt: &LockedPrompt) -> Shape {
    let properties = prompt.arguments.iter().map(|argument| {
        let mut schema = json!({"type": "string"});
        if let Some(description) = &argument.description {
            schema["description"] = json!(description);
        }
        (argument.name.clone(), schema)
    });
    let properties: Map<String, Value> = properties.collect();
    let required = prompt.arguments.iter().filter(|argument| argument.required);
    let required: Vec<_> = required.map(|argument| &argument.name).collect();
    Shape::new(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }))
}

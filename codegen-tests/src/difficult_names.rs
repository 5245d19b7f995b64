//! A server whose names and addresses are hard to turn into Rust.

use bowline::{
    RawJson,
    lock::{LockError, LockedServer},
    model::{Prompt, PromptArgument, Resource, ResourceTemplate, Tool},
};
use serde_json::json;

/// Names that mean something in Rust or in generated modules, or nothing anywhere.
const NAMES: [&str; 31] = [
    "*/",
    "2d",
    "a\nb",
    "args",
    "arguments",
    "async",
    "bowline",
    "client",
    "crate",
    "default",
    "encode",
    "extra",
    "format",
    "größe",
    "into",
    "mod",
    "new",
    "object",
    "option",
    "output",
    "prompt_arguments",
    "prompts",
    "resources",
    "self",
    "serde",
    "some",
    "std",
    "str",
    "super",
    "type",
    "uri",
];

/// Templates that are not quite what the specification allows, and some that are.
const TEMPLATES: [&str; 9] = [
    "x://}/{id}",
    "x://{{id}}",
    "x://{id",
    "x://id}",
    "x://{a}/{a}",
    "x://{a-b}/{a_b}/{aB}",
    "x://{+path}{?q}",
    "x://\\{id}\"\u{202e}",
    "x://a-long-address/with-many-parts/{first}/and-one-more/{second}/until-no-line-has-space/{third}",
];

/// Returns a server that uses the names wherever a name can be.
pub(crate) fn server() -> Result<LockedServer, LockError> {
    let tools: Vec<Tool> = NAMES.iter().map(|name| tool(name)).collect();
    let prompts: Vec<Prompt> = NAMES.iter().map(|name| prompt(name)).collect();
    // Resources may have equal names.
    let resources = NAMES.iter().chain(&NAMES).enumerate();
    let resources = resources.map(|(at, name)| Resource::new(format!("x://{at}/{name}"), *name));
    let named = NAMES.iter().map(|name| format!("x://of/{{{name}}}"));
    let templates = TEMPLATES.iter().map(|&it| it.to_owned()).chain(named);
    let templates = templates.map(|template| ResourceTemplate::new(template, "of"));
    let server = LockedServer::default()
        .with_tools(&tools)?
        .with_prompts(&prompts)
        .with_resources(&resources.collect::<Vec<_>>())
        .with_resource_templates(&templates.collect::<Vec<_>>());
    Ok(server)
}

fn tool(name: &str) -> Tool {
    let property = json!({"type": "object", "properties": {(name): {"type": "string"}}});
    let schema = json!({
        "type": "object",
        "properties": {(name): property},
        "required": [name],
    });
    let schema = || RawJson::from_string(schema.to_string()).ok();
    let mut tool = Tool::new(name);
    tool.description = Some(name.to_owned());
    tool.input_schema = schema();
    tool.output_schema = schema();
    tool
}

fn prompt(name: &str) -> Prompt {
    let mut prompt = Prompt::new(name);
    prompt.arguments = vec![PromptArgument::new(name)];
    prompt
}

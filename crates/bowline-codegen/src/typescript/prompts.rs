//! A method for each prompt.

use bowline::lock::{LockedPrompt, LockedServer};
use bowline_schema::print::typescript::quote;

use super::{method::Method, names::method_name, tools::is_optional, types::Types};
use crate::{describe::prompt_arguments, error::GenerateError, names::Scope};

/// Returns the methods for the prompts of a server.
pub(super) fn methods(
    name: &str,
    server: &LockedServer,
    types: &mut Types,
) -> Result<Vec<Method>, GenerateError> {
    let mut scope = Scope::new(format!("prompts of server {name:?}"));
    let mut methods = Vec::new();
    for (name, prompt) in &server.prompts {
        let identifier = method_name(name);
        scope.take(name, &identifier)?;
        methods.push(method(name, identifier, prompt, types));
    }
    Ok(methods)
}

fn method(name: &str, identifier: String, prompt: &LockedPrompt, types: &mut Types) -> Method {
    types.import("getPrompt");
    types.import("type PromptResult");
    let has_arguments = !prompt.arguments.is_empty();
    let parameter = has_arguments.then(|| {
        let shape = prompt_arguments(prompt);
        let arguments = types.declare(&shape, name, "PromptArguments");
        let default = if is_optional(&shape) { " = {}" } else { "" };
        format!("args: {arguments}{default}")
    });
    let text = prompt.description.as_ref().or(prompt.title.as_ref());
    Method {
        docs: text
            .cloned()
            .unwrap_or_else(|| format!("Gets the prompt `{name}`.")),
        name: identifier,
        parameters: parameter.into_iter().collect(),
        returns: "PromptResult".to_owned(),
        function: "getPrompt",
        arguments: vec![
            quote(name),
            if has_arguments { "args" } else { "undefined" }.to_owned(),
        ],
    }
}

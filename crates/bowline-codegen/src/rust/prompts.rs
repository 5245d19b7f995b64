//! A function for each prompt.

use bowline::lock::{LockedPrompt, LockedServer};
use bowline_schema::print::rust::{Purpose, RustTypes, doc_comment, function_name, string_literal};

use super::source::{Function, function_imports, indented, options, type_imports};
use crate::{describe::prompt_arguments, error::GenerateError, names::Scope};

/// The function that is imported.
const RESERVED: &str = "prompt_arguments";

/// Returns the module for the prompts of a server, if it has any.
pub(super) fn section(name: &str, server: &LockedServer) -> Result<Vec<String>, GenerateError> {
    let mut scope = Scope::new(format!("prompts of server {name:?}"));
    let (mut functions, mut items) = (Vec::new(), Vec::new());
    for (name, prompt) in &server.prompts {
        let mut identifier = function_name(name);
        if identifier == RESERVED {
            identifier.push('_');
        }
        scope.take(name, &identifier)?;
        let function = function(name, &identifier, prompt);
        items.push(function.print(4));
        items.extend(types(&identifier, prompt));
        functions.push(function);
    }
    if items.is_empty() {
        return Ok(Vec::new());
    }
    items.splice(0..0, function_imports(&functions));
    let body = indented(&items.join("\n"));
    Ok(vec![format!(
        "/// Prompts.\npub mod prompts {{\n{body}}}\n"
    )])
}

fn function(name: &str, identifier: &str, prompt: &LockedPrompt) -> Function {
    let mut parameters = vec!["client: &'a Client".to_owned()];
    let has_arguments = !prompt.arguments.is_empty();
    parameters.extend(has_arguments.then(|| format!("args: &{identifier}::Args")));
    let (statements, arguments) = match has_arguments {
        true => ("    let arguments = prompt_arguments(args);\n", "arguments"),
        false => ("", "[(\"\", \"\"); 0]"),
    };
    let text = prompt.description.as_ref().or(prompt.title.as_ref());
    let call = format!("get({}, {arguments})", string_literal(name));
    let mut imports = vec!["Client", "client::Call", "model::GetPromptResult"];
    imports.extend(has_arguments.then_some("typed::prompt_arguments"));
    Function {
        imports,
        docs: vec![text.cloned().unwrap_or_else(|| format!("Gets `{name}`."))],
        name: identifier.to_owned(),
        parameters,
        returns: "Call<'a, GetPromptResult>".to_owned(),
        statements: statements.to_owned(),
        body: vec!["client".to_owned(), "prompts()".to_owned(), call],
    }
}

/// Returns the module with the arguments of a prompt.
fn types(identifier: &str, prompt: &LockedPrompt) -> Option<String> {
    if prompt.arguments.is_empty() {
        return None;
    }
    let shape = prompt_arguments(prompt);
    let mut types = RustTypes::new(options(8));
    types.add(&shape, "Args", Purpose::Make);
    let items = types.items();
    let body = format!("{}\n{items}", type_imports(&types));
    let docs = doc_comment(
        &[format!("The types of [`{identifier}`](fn@{identifier}).")],
        0,
    );
    Some(format!(
        "{docs}pub mod {identifier} {{\n{}}}\n",
        indented(&body)
    ))
}

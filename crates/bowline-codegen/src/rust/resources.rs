//! The addresses of resources, and functions that read them.

use std::collections::HashSet;

use bowline::lock::{LockedResource, LockedServer};
use bowline_schema::print::rust::{doc_comment, field_name, function_name, string_literal};

use super::source::{Function, constant, format_statement, function_imports, indented};
use crate::names::numbered;

/// Returns the module for the resources of a server, if it has any.
pub(super) fn section(server: &LockedServer) -> Vec<String> {
    // What is imported.
    let mut taken = HashSet::from(["encode".to_owned()]);
    let (mut functions, mut items) = (Vec::new(), Vec::new());
    for (uri, resource) in &server.resources {
        let name = free_name(resource, &mut taken);
        items.push(address(&name, uri, resource));
        let function = reader(&name, resource, &constant_name(&name));
        items.push(function.print(4));
        functions.push(function);
    }
    for (template, resource) in &server.resource_templates {
        let name = free_name(resource, &mut taken);
        items.push(address(&name, template, resource));
        if let Some(function) = template_reader(&name, template, resource) {
            items.push(function.print(4));
            functions.push(function);
        }
    }
    if items.is_empty() {
        return Vec::new();
    }
    items.splice(0..0, function_imports(&functions));
    let body = indented(&items.join("\n"));
    vec![format!("/// Resources.\npub mod resources {{\n{body}}}\n")]
}

/// Resources may have any number of equal names, since their addresses tell them
/// apart.
fn free_name(resource: &LockedResource, taken: &mut HashSet<String>) -> String {
    let name = function_name(&resource.name);
    numbered(name.trim_start_matches("r#"), |candidate| {
        taken.insert(candidate.to_owned())
    })
}

fn address(name: &str, uri: &str, resource: &LockedResource) -> String {
    let docs = doc_comment(&docs(resource), 0);
    docs + &constant(&constant_name(name), &string_literal(uri), 4)
}

fn constant_name(name: &str) -> String {
    name.to_ascii_uppercase()
}

fn docs(resource: &LockedResource) -> Vec<String> {
    let text = resource.description.as_ref().or(resource.title.as_ref());
    let mut docs = vec![text.unwrap_or(&resource.name).clone()];
    let mime_type = resource.mime_type.as_ref();
    docs.extend(mime_type.map(|mime_type| format!("Media type: `{mime_type}`.")));
    docs
}

fn reader(name: &str, resource: &LockedResource, address: &str) -> Function {
    Function {
        imports: vec!["Client", "client::Call", "model::ReadResourceResult"],
        docs: docs(resource),
        name: function_name(name),
        parameters: vec!["client: &'a Client".to_owned()],
        returns: "Call<'a, ReadResourceResult>".to_owned(),
        statements: String::new(),
        body: vec![
            "client".to_owned(),
            "resources()".to_owned(),
            format!("read({address})"),
        ],
    }
}

/// Returns a function that fills in a template, if it has plain variables only.
fn template_reader(name: &str, template: &str, resource: &LockedResource) -> Option<Function> {
    let mut rest = template;
    let mut taken = HashSet::from(["client", "encode", "uri"].map(str::to_owned));
    let (mut format, mut parameters, mut values) = (String::new(), Vec::new(), Vec::new());
    while let Some((before, after)) = rest.split_once('{') {
        let (variable, after) = after.split_once('}')?;
        let is_plain = |part: char| part.is_ascii_alphanumeric() || "_-.".contains(part);
        if before.contains('}') || variable.is_empty() || !variable.chars().all(is_plain) {
            return None;
        }
        let identifier = numbered(&field_name(variable), |it| taken.insert(it.to_owned()));
        format.push_str(before);
        format.push_str("{}");
        values.push(format!("encode({identifier})"));
        parameters.push(format!("{identifier}: &str"));
        rest = after;
    }
    format.push_str(rest);
    if rest.contains('}') || parameters.is_empty() {
        return None;
    }
    values.insert(0, string_literal(&format));
    let mut function = reader(name, resource, "&uri");
    function.imports.push("typed::encode");
    function.parameters.extend(parameters);
    function.statements = format_statement("uri", &values);
    Some(function)
}

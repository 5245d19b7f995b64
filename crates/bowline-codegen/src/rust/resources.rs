//! The addresses of resources, and functions that read them.

use std::collections::HashSet;

use bowline::lock::{LockedResource, LockedServer};
use bowline_schema::print::rust::{doc_comment, field_name, function_name, string_literal};

use super::source::{Function, format_statement, indented};
use crate::names::numbered;

const IMPORTS: &str = "use ::bowline::{Client, client::Call, model::ReadResourceResult};\n";

const ENCODE: &str = "use ::bowline::typed::encode;\n";

/// Returns the module for the resources of a server, if it has any.
pub(super) fn section(server: &LockedServer) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut items = Vec::new();
    for (uri, resource) in &server.resources {
        let name = free_name(resource, &mut taken);
        items.push(constant(&name, uri, resource));
        let address = constant_name(&name);
        items.push(reader(&name, resource, Vec::new(), String::new(), &address).print(4));
    }
    for (template, resource) in &server.resource_templates {
        let name = free_name(resource, &mut taken);
        items.push(constant(&name, template, resource));
        items.extend(template_reader(&name, template, resource));
    }
    if items.is_empty() {
        return Vec::new();
    }
    let uses = |text: &str| items.iter().any(|item| item.contains(text));
    let client = if uses("client: &'a Client") {
        IMPORTS
    } else {
        ""
    };
    let encode = if uses("encode(") { ENCODE } else { "" };
    let imports = format!("{encode}{client}");
    items.splice(0..0, (!imports.is_empty()).then_some(imports));
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

fn constant(name: &str, uri: &str, resource: &LockedResource) -> String {
    let docs = doc_comment(&docs(resource), 0);
    let name = constant_name(name);
    format!("{docs}pub const {name}: &str = {};\n", string_literal(uri))
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

fn reader(
    name: &str,
    resource: &LockedResource,
    variables: Vec<String>,
    statements: String,
    address: &str,
) -> Function {
    let mut parameters = vec!["client: &'a Client".to_owned()];
    parameters.extend(variables);
    Function {
        docs: docs(resource),
        name: function_name(name),
        parameters,
        returns: "Call<'a, ReadResourceResult>".to_owned(),
        statements,
        body: vec![
            "client".to_owned(),
            "resources()".to_owned(),
            format!("read({address})"),
        ],
    }
}

/// Returns a function that fills in a template, if it has plain variables only.
fn template_reader(name: &str, template: &str, resource: &LockedResource) -> Option<String> {
    let mut rest = template;
    let mut taken = HashSet::from(["client", "encode", "uri"].map(str::to_owned));
    let (mut format, mut parameters, mut values) = (String::new(), Vec::new(), Vec::new());
    while let Some((before, after)) = rest.split_once('{') {
        let (variable, after) = after.split_once('}')?;
        let is_plain = |part: char| part.is_ascii_alphanumeric() || "_-.".contains(part);
        if variable.is_empty() || !variable.chars().all(is_plain) {
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
    let statements = format_statement("uri", &values);
    Some(reader(name, resource, parameters, statements, "&uri").print(4))
}

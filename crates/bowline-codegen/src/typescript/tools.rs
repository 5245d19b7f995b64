//! A method for each tool.

use bowline::lock::{LockedServer, LockedTool};
use bowline_schema::{
    print::typescript::quote,
    shape::{Shape, TypeKind},
};

use super::{method::Method, names::method_name, types::Types};
use crate::{
    describe::{hints, takes_arguments},
    error::GenerateError,
    names::Scope,
};

/// Returns the methods for the tools of a server.
pub(super) fn methods(
    name: &str,
    server: &LockedServer,
    types: &mut Types,
) -> Result<Vec<Method>, GenerateError> {
    let mut scope = Scope::new(format!("tools of server {name:?}"));
    let mut methods = Vec::new();
    for (name, tool) in &server.tools {
        let identifier = method_name(name);
        scope.take(name, &identifier)?;
        methods.push(method(name, identifier, tool, types));
    }
    Ok(methods)
}

fn method(name: &str, identifier: String, tool: &LockedTool, types: &mut Types) -> Method {
    let input = Shape::new(tool.input_schema.clone());
    let has_arguments = takes_arguments(&input);
    let mut docs = docs(name, tool);
    let parameter = has_arguments.then(|| {
        let arguments = types.declare(&input, name, "Arguments");
        let default = if is_optional(&input) { " = {}" } else { "" };
        format!("args: {arguments}{default}")
    });
    let output = tool.output_schema.clone().map(Shape::new);
    let output = output.map(|output| types.declare(&output, name, "Result"));
    if let (None, Some(observed)) = (&output, &tool.observed_output) {
        let shape = Shape::new(observed.schema.clone());
        let observed_type = types.declare(&shape, name, "ObservedOutput");
        let count = observed.count;
        docs.push(format!(
            "The server does not declare what it returns. {{@link {observed_type}}} is what its \
             results looked like ({count} observed); `jsonOf<{observed_type}>(result)` parses it."
        ));
    }
    let function = match &output {
        Some(_) => "callTypedTool",
        None => "callTool",
    };
    types.import(function);
    if output.is_none() {
        types.import("type ToolResult");
    }
    Method {
        docs: docs.join("\n\n"),
        name: identifier,
        parameters: parameter.into_iter().collect(),
        returns: output.unwrap_or_else(|| "ToolResult".to_owned()),
        function,
        arguments: vec![
            quote(name),
            if has_arguments { "args" } else { "{}" }.to_owned(),
        ],
    }
}

fn docs(name: &str, tool: &LockedTool) -> Vec<String> {
    let text = tool.description.as_ref().or(tool.title.as_ref()).cloned();
    let mut docs = vec![text.unwrap_or_else(|| format!("Calls the tool `{name}`."))];
    docs.extend(hints(tool));
    docs
}

/// Returns whether no member must be given.
pub(super) fn is_optional(shape: &Shape) -> bool {
    let root = shape.resolve(shape.root());
    match &root.kind {
        TypeKind::Object(object) => object.fields.iter().all(|field| !field.is_required),
        kind => *kind == TypeKind::Any,
    }
}

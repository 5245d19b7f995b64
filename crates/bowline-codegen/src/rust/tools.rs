//! A function for each tool, and a module with its types.

use bowline::{
    lock::{LockedServer, LockedTool},
    model::ToolMode,
};
use bowline_schema::{
    print::rust::{Purpose, RustTypes, doc_comment, function_name, string_literal},
    shape::Shape,
};

use super::source::{Function, function_imports, indented, options, type_imports};
use crate::{
    describe::{hints, takes_arguments},
    error::GenerateError,
    names::Scope,
};

/// Modules of a server that are not those of tools.
const RESERVED: [&str; 2] = ["prompts", "resources"];

/// Returns the items for the tools of a server.
pub(super) fn section(name: &str, server: &LockedServer) -> Result<Vec<String>, GenerateError> {
    let mut scope = Scope::new(format!("tools of server {name:?}"));
    let (mut functions, mut items) = (Vec::new(), Vec::new());
    for (name, tool) in &server.tools {
        let mut identifier = function_name(name);
        if RESERVED.contains(&identifier.as_str()) {
            identifier.push('_');
        }
        scope.take(name, &identifier)?;
        let (function, module) = ToolItems::new(name, identifier, tool).print();
        items.push(function.print(0));
        items.extend(module);
        functions.push(function);
    }
    items.splice(0..0, function_imports(&functions));
    Ok(items)
}

struct ToolItems<'a> {
    name: &'a str,
    identifier: String,
    tool: &'a LockedTool,
    types: RustTypes,
    /// Aliases for types that need no item.
    aliases: Vec<String>,
}

impl<'a> ToolItems<'a> {
    fn new(name: &'a str, identifier: String, tool: &'a LockedTool) -> Self {
        Self {
            name,
            identifier,
            tool,
            types: RustTypes::new(options(4)),
            aliases: Vec::new(),
        }
    }

    /// Returns the function, and the module of its types if there are any.
    fn print(mut self) -> (Function, Option<String>) {
        for name in ["Args", "Output", "ObservedOutput"] {
            self.types.reserve(name);
        }
        let shape = Shape::new(self.tool.input_schema.clone());
        let has_arguments = takes_arguments(&shape);
        if has_arguments {
            self.add(&shape, "Args", Purpose::Make);
        }
        if let Some(schema) = &self.tool.output_schema {
            let shape = Shape::new(schema.clone());
            self.add(&shape, "Output", Purpose::Read);
        } else if let Some(observed) = &self.tool.observed_output {
            let shape = Shape::new(observed.schema.clone());
            self.add(&shape, "ObservedOutput", Purpose::Read);
        }
        (self.function(has_arguments), self.module())
    }

    fn add(&mut self, shape: &Shape, name: &str, purpose: Purpose) {
        let expression = self.types.add(shape, name, purpose);
        if expression != name {
            let alias = format!("pub type {name} = {expression};\n");
            self.aliases.push(alias);
        }
    }

    fn function(&self, has_arguments: bool) -> Function {
        let module = &self.identifier;
        let mut parameters = vec!["client: &'a Client".to_owned()];
        parameters.extend(has_arguments.then(|| format!("args: &{module}::Args")));
        let mut imports = vec!["Client", "client::ToolCall"];
        let arguments = if has_arguments {
            "args"
        } else {
            imports.push("typed::Object");
            "Object::new()"
        };
        let call = format!("call({}, {arguments})", string_literal(self.name));
        let mut body = vec!["client".to_owned(), "tools()".to_owned(), call];
        if self.tool.mode == ToolMode::Stateless {
            imports.push("model::ToolMode");
            body.push("mode(ToolMode::Stateless)".to_owned());
        }
        let mut returns = "ToolCall<'a>".to_owned();
        if self.tool.output_schema.is_some() {
            imports.push("typed::Typed");
            body.push("typed()".to_owned());
            returns = format!("ToolCall<'a, Typed<{module}::Output>>");
        }
        Function {
            imports,
            docs: self.docs(),
            name: module.clone(),
            parameters,
            returns,
            statements: String::new(),
            body,
        }
    }

    fn docs(&self) -> Vec<String> {
        let text = self.tool.description.as_ref().or(self.tool.title.as_ref());
        let mut docs = vec![
            text.cloned()
                .unwrap_or_else(|| format!("Calls `{}`.", self.name)),
        ];
        docs.extend(hints(self.tool));
        if self.tool.output_schema.is_none()
            && let Some(observed) = &self.tool.observed_output
        {
            let (count, module) = (observed.count, &self.identifier);
            docs.push(format!(
                "The server does not declare what it returns. [`{module}::ObservedOutput`] is what \
                 {count} results looked like; `.typed::<{module}::ObservedOutput>()` decodes it."
            ));
        }
        docs
    }

    fn module(&self) -> Option<String> {
        let items = self.types.items();
        let aliases = self.aliases.join("\n");
        if items.is_empty() && aliases.is_empty() {
            return None;
        }
        let imports = type_imports(&self.types);
        let parts = [imports.as_str(), aliases.as_str(), items.as_str()];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let docs = doc_comment(
            &[format!("The types of [`{}`](fn@{0}).", self.identifier)],
            0,
        );
        let body = indented(&parts.join("\n"));
        Some(format!("{docs}pub mod {} {{\n{body}}}\n", self.identifier))
    }
}

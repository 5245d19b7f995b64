//! The types that the methods of a module use.

use std::collections::BTreeSet;

use bowline_schema::{
    print::typescript::{Printer, Style, TypeNames},
    shape::{Shape, TypeKind},
};

use super::RUNTIME;
use super::method::list;

/// The types of the runtime that modules mention, and those of the language.
const USED_TYPES: [&str; 6] = [
    "CallOptions",
    "McpClient",
    "Promise",
    "PromptResult",
    "ResourceResult",
    "ToolResult",
];

/// The declarations of a module, and what it imports.
pub(super) struct Types {
    names: TypeNames,
    declarations: Vec<String>,
    imports: BTreeSet<&'static str>,
}

impl Types {
    pub(super) fn new() -> Self {
        let mut names = TypeNames::new();
        USED_TYPES.into_iter().for_each(|name| names.reserve(name));
        Self {
            names,
            declarations: Vec::new(),
            imports: BTreeSet::new(),
        }
    }

    /// Takes a name for a class, or a similar one.
    pub(super) fn name(&mut self, name: &str) -> String {
        self.names.assign(name)
    }

    /// Imports something from the runtime. Types begin with `type `.
    pub(super) fn import(&mut self, name: &'static str) {
        self.imports.insert(name);
    }

    /// Declares the types of a shape, and returns the name of that for the document.
    /// The names of all of them begin with `prefix`.
    pub(super) fn declare(&mut self, shape: &Shape, prefix: &str, suffix: &str) -> String {
        let root = self.names.assign(&format!("{prefix} {suffix}"));
        // A document that refers to itself is declared once.
        let root_pointer = match &shape.root().kind {
            TypeKind::Reference(id) => Some(&shape.definition(*id).pointer),
            _ => None,
        };
        let names = &mut self.names;
        let printer = Printer::with_names(shape, Style::FILE, |definition| {
            match root_pointer == Some(&definition.pointer) {
                true => root.clone(),
                false => names.assign(&format!("{prefix} {}", definition.name)),
            }
        });
        let declarations = [printer.declaration(&root), printer.definitions()];
        let declared = declarations.into_iter().filter(|text| !text.is_empty());
        self.declarations.extend(declared);
        root
    }

    pub(super) fn declarations(&self) -> &[String] {
        &self.declarations
    }

    /// Writes the imports.
    pub(super) fn imports(&self) -> String {
        let from = format!(" from \"./{RUNTIME}.js\";");
        // Types sort as prettier leaves them: by name.
        let mut names: Vec<&str> = self.imports.iter().copied().collect();
        names.sort_by_key(|name| name.trim_start_matches("type ").to_lowercase());
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let line = format!("import {{ {} }}{from}\n", names.join(", "));
        if line.len() <= super::method::MAX_WIDTH + 1 {
            return line;
        }
        let lines = list("import", &names, &from);
        lines.replacen('(', " {", 1).replacen(')', "}", 1) + "\n"
    }
}

//! Pieces of Rust source.

use std::collections::BTreeSet;

use bowline_schema::print::rust::{Options, RustTypes, doc_comment};

/// The width of a line of code.
const WIDTH: usize = 100;
/// The module of what only generated code uses, which sorts last among those used.
const TYPED: &str = "typed::";
/// The longest chain of calls, and the longest arguments, that rustfmt leaves on one
/// line.
const MAX_CHAIN: usize = 60;

/// Returns how types are printed that are indented by this many spaces.
pub(super) fn options(indent: usize) -> Options {
    let mut options = Options::default();
    options.value = "Value".to_owned();
    options.object = "Object".to_owned();
    options.map = "Map".to_owned();
    options.present = "::bowline::typed::absent_or_null".to_owned();
    options.width = WIDTH - indent;
    options
}

/// Returns the imports of a module with these types.
pub(super) fn type_imports(types: &RustTypes) -> String {
    let used: Vec<&str> = types.used().collect();
    let mut imports = match used[..] {
        [] => String::new(),
        [only] => format!("use ::bowline::typed::{only};\n"),
        _ => format!("use ::bowline::typed::{{{}}};\n", used.join(", ")),
    };
    if !types.items().is_empty() {
        imports.push_str("use ::serde::{Deserialize, Serialize};\n");
    }
    imports
}

/// Indents every line by four spaces.
pub(super) fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}

/// Returns the imports of a module with these functions, as rustfmt has them.
pub(super) fn function_imports(functions: &[Function]) -> Option<String> {
    let names = functions.iter().flat_map(|function| &function.imports);
    let names: BTreeSet<&str> = names.copied().collect();
    let is_typed = |name: &&&str| name.starts_with(TYPED);
    let typed: Vec<_> = names.iter().filter(is_typed).collect();
    if typed.len() <= 1 {
        let names: Vec<_> = names.into_iter().collect();
        return (!names.is_empty()).then(|| format!("use ::bowline::{{{}}};\n", names.join(", ")));
    }
    // Nested braces take lines of their own.
    let others = names.iter().filter(|name| !is_typed(name));
    let others: String = others.map(|name| format!("    {name},\n")).collect();
    let typed: Vec<_> = typed.iter().map(|name| &name[TYPED.len()..]).collect();
    let typed = format!("    {TYPED}{{{}}},\n", typed.join(", "));
    Some(format!("use ::bowline::{{\n{others}{typed}}};\n"))
}

/// A function that makes a call.
pub(super) struct Function {
    /// What it uses of `::bowline`.
    pub(super) imports: Vec<&'static str>,
    pub(super) docs: Vec<String>,
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) returns: String,
    /// Lines before the call.
    pub(super) statements: String,
    /// A chain of calls: the receiver, then one call each.
    pub(super) body: Vec<String>,
}

impl Function {
    /// Returns the function, for a place that is indented by this many spaces.
    pub(super) fn print(&self, indent: usize) -> String {
        let mut text = doc_comment(&self.docs, 0);
        let (name, returns) = (&self.name, &self.returns);
        let parameters = self.parameters.join(", ");
        let line = format!("pub fn {name}<'a>({parameters}) -> {returns} {{");
        if line.chars().count() + indent <= WIDTH {
            text.push_str(&line);
            text.push('\n');
        } else {
            text.push_str(&format!("pub fn {name}<'a>(\n"));
            for parameter in &self.parameters {
                text.push_str(&format!("    {parameter},\n"));
            }
            text.push_str(&format!(") -> {returns} {{\n"));
        }
        text.push_str(&self.statements);
        text.push_str(&chain(&self.body));
        text.push_str("}\n");
        text
    }
}

/// Writes a chain of calls as rustfmt does: on one line if it is short.
fn chain(calls: &[String]) -> String {
    let line = format!("    {}\n", calls.join("."));
    if calls.len() <= 2 || line.trim().len() <= MAX_CHAIN {
        return line;
    }
    let (first, rest) = calls.split_first().expect("a chain has a receiver");
    let rest = rest.iter().map(|call| format!("        .{call}\n"));
    format!("    {first}\n{}", rest.collect::<String>())
}

/// Writes a constant for a place that is indented by this many spaces. As rustfmt has
/// it, the value has a line of its own only where that is enough.
pub(super) fn constant(name: &str, value: &str, indent: usize) -> String {
    let line = format!("pub const {name}: &str = {value};\n");
    let fits = |text: &str, indent: usize| text.trim_end().chars().count() + indent <= WIDTH;
    if fits(&line, indent) || !fits(&format!("{value};"), indent + 4) {
        return line;
    }
    format!("pub const {name}: &str =\n    {value};\n")
}

/// Writes a statement that formats a string.
pub(super) fn format_statement(name: &str, arguments: &[String]) -> String {
    let joined = arguments.join(", ");
    if joined.len() <= MAX_CHAIN {
        return format!("    let {name} = format!({joined});\n");
    }
    let lines = arguments.join(",\n        ");
    format!("    let {name} = format!(\n        {lines}\n    );\n")
}

//! Pieces of Rust source.

use bowline_schema::print::rust::{Paths, RustTypes, doc_comment};

/// The width of a line of code.
const WIDTH: usize = 100;

/// The types of `bowline` that generated code uses.
pub(super) fn paths() -> Paths {
    let mut paths = Paths::default();
    paths.value = "Value".to_owned();
    paths.object = "Object".to_owned();
    paths.map = "Map".to_owned();
    paths.present = "::bowline::typed::present".to_owned();
    paths
}

/// Returns the imports of a module with these types.
pub(super) fn imports(types: &RustTypes) -> String {
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

/// A function with a body of one expression.
pub(super) struct Function {
    pub(super) docs: Vec<String>,
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) returns: String,
    /// A chain of calls: the receiver, then one call each.
    pub(super) body: Vec<String>,
}

impl Function {
    pub(super) fn print(&self) -> String {
        let mut text = doc_comment(&self.docs, 0);
        let (name, returns) = (&self.name, &self.returns);
        let line = format!(
            "pub fn {name}<'a>({}) -> {returns} {{\n",
            self.parameters.join(", ")
        );
        if line.len() <= WIDTH + 1 {
            text.push_str(&line);
        } else {
            text.push_str(&format!("pub fn {name}<'a>(\n"));
            for parameter in &self.parameters {
                text.push_str(&format!("    {parameter},\n"));
            }
            text.push_str(&format!(") -> {returns} {{\n"));
        }
        text.push_str(&chain(&self.body));
        text.push_str("}\n");
        text
    }
}

/// Writes a chain of calls as rustfmt does: on one line if it is short.
fn chain(calls: &[String]) -> String {
    let line = format!("    {}\n", calls.join("."));
    // The longest chain that rustfmt leaves on one line has 60 characters.
    if calls.len() <= 2 || line.trim().len() <= 60 {
        return line;
    }
    let (first, rest) = calls.split_first().expect("a chain has a receiver");
    let rest = rest.iter().map(|call| format!("        .{call}\n"));
    format!("    {first}\n{}", rest.collect::<String>())
}

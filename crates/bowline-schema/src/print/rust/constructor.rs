//! Constructors and setters for types that programs make values of.

use super::structs::{Presence, StructField};

/// The width of a line of code.
const WIDTH: usize = 100;

/// Writes an `impl` with a constructor, if there are required fields, and a setter for
/// each optional one.
pub(super) fn write_constructor(
    out: &mut String,
    name: &str,
    fields: &[StructField],
    has_default: bool,
) {
    let optional: Vec<_> = fields.iter().filter(|field| field.is_optional()).collect();
    let mut functions = Vec::new();
    if !has_default {
        functions.push(constructor(fields));
    }
    // A setter of this name would be a second constructor.
    let setters = optional.iter().filter(|field| field.identifier != "new");
    functions.extend(setters.map(|field| setter(field)));
    if !functions.is_empty() {
        out.push_str(&format!("\nimpl {name} {{\n{}}}\n", functions.join("\n")));
    }
}

fn constructor(fields: &[StructField]) -> String {
    let is_required = |field: &&StructField| field.presence == Presence::Required;
    let parameters = fields.iter().filter(is_required).map(|field| {
        let expression = match field.expression.as_str() {
            "String" => "impl Into<String>",
            other => other,
        };
        format!("{}: {expression}", field.identifier)
    });
    let parameters: Vec<String> = parameters.collect();
    let line = format!("    pub fn new({}) -> Self {{\n", parameters.join(", "));
    let mut text = String::from("    /// Sets what is required.\n");
    if line.len() <= WIDTH + 1 {
        text.push_str(&line);
    } else {
        let lines = parameters.iter().map(|it| format!("        {it},\n"));
        let lines: String = lines.collect();
        text.push_str(&format!("    pub fn new(\n{lines}    ) -> Self {{\n"));
    }
    text.push_str(&initializer(fields));
    text.push_str("    }\n");
    text
}

fn initializer(fields: &[StructField]) -> String {
    let members = fields.iter().map(|field| {
        let identifier = &field.identifier;
        match field.presence {
            Presence::Required if field.expression == "String" => {
                format!("{identifier}: {identifier}.into()")
            }
            Presence::Required => identifier.clone(),
            Presence::Optional | Presence::OptionalNullable => format!("{identifier}: None"),
            Presence::Constant | Presence::Extra => format!("{identifier}: Default::default()"),
        }
    });
    let members: Vec<String> = members.collect();
    // As rustfmt has it: a short literal of one line.
    let line = format!("        Self {{ {} }}\n", members.join(", "));
    if members.join(", ").len() <= 18 && line.len() <= WIDTH + 1 {
        return line;
    }
    let lines = members.iter().map(|it| format!("            {it},\n"));
    let lines: String = lines.collect();
    format!("        Self {{\n{lines}        }}\n")
}

fn setter(field: &StructField) -> String {
    let identifier = &field.identifier;
    let (parameter, value) = match (field.presence, field.expression.as_str()) {
        (_, "String") => (
            "impl Into<String>".to_owned(),
            format!("Some({identifier}.into())"),
        ),
        (Presence::OptionalNullable, expression) if expression.starts_with("Option<") => (
            format!("impl Into<{expression}>"),
            format!("Some({identifier}.into())"),
        ),
        (_, expression) => (expression.to_owned(), format!("Some({identifier})")),
    };
    let method = identifier;
    format!(
        "    pub fn {method}(mut self, {identifier}: {parameter}) -> Self {{\n        \
         self.{identifier} = {value};\n        self\n    }}\n"
    )
}

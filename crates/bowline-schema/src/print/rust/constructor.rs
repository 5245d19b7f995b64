//! Constructors and setters for types that programs make values of.

use super::structs::{Presence, StructField};

/// Writes an `impl` with a constructor, if there are required fields, and a setter for
/// each optional one.
pub(super) fn write_constructor(
    out: &mut String,
    name: &str,
    fields: &[StructField],
    width: usize,
) {
    let has_default = !fields
        .iter()
        .any(|field| field.presence == Presence::Required);
    let optional: Vec<_> = fields.iter().filter(|field| field.is_optional()).collect();
    let mut functions = Vec::new();
    if !has_default {
        functions.push(constructor(fields, width));
    }
    // A setter of this name would be a second constructor.
    let setters = optional.iter().filter(|field| field.identifier != "new");
    functions.extend(setters.map(|field| setter(field, width)));
    if !functions.is_empty() {
        out.push_str(&format!("\nimpl {name} {{\n{}}}\n", functions.join("\n")));
    }
}

fn constructor(fields: &[StructField], width: usize) -> String {
    let is_required = |field: &&StructField| field.presence == Presence::Required;
    let parameters = fields.iter().filter(is_required).map(|field| {
        let expression = match field.expression.as_str() {
            "String" => "impl Into<String>",
            other => other,
        };
        format!("{}: {expression}", field.identifier)
    });
    let parameters: Vec<String> = parameters.collect();
    let signature = signature("new", &parameters, width);
    let body = initializer(fields, width);
    format!("    /// Sets what is required.\n{signature}{body}    }}\n")
}

/// Returns the first line of a method, or the first lines if it is long.
fn signature(name: &str, parameters: &[String], width: usize) -> String {
    let joined = parameters.join(", ");
    let line = ["    pub fn ", name, "(", &joined, ") -> Self {\n"].concat();
    if line.chars().count() <= width + 1 {
        return line;
    }
    let lines = parameters.iter().map(|it| format!("        {it},\n"));
    let lines: String = lines.collect();
    format!("    pub fn {name}(\n{lines}    ) -> Self {{\n")
}

fn initializer(fields: &[StructField], width: usize) -> String {
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
    if members.join(", ").len() <= 18 && line.len() <= width + 1 {
        return line;
    }
    let lines = members.iter().map(|it| format!("            {it},\n"));
    let lines: String = lines.collect();
    format!("        Self {{\n{lines}        }}\n")
}

fn setter(field: &StructField, width: usize) -> String {
    let identifier = &field.identifier;
    let (parameter, value) = match (field.presence, field.expression.as_str()) {
        (_, "String") => (
            "impl Into<String>".to_owned(),
            format!("{identifier}.into()"),
        ),
        (Presence::OptionalNullable, expression) if expression.starts_with("Option<") => (
            format!("impl Into<{expression}>"),
            format!("{identifier}.into()"),
        ),
        (_, expression) => (expression.to_owned(), identifier.clone()),
    };
    let parameters = ["mut self".to_owned(), format!("{identifier}: {parameter}")];
    let signature = signature(identifier, &parameters, width);
    let line = format!("        self.{identifier} = Some({value});\n");
    let line = match line.len() <= width + 1 {
        true => line,
        false => format!("        self.{identifier} =\n            Some({value});\n"),
    };
    format!("{signature}{line}        self\n    }}\n")
}

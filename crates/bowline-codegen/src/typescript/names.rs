//! Identifiers of TypeScript for what servers offer.

use bowline_schema::print::words::{camel_case, pascal_case};

/// Members of the classes, and those that every object has. A method `then` would make
/// `await` call it.
const TAKEN_METHODS: [&str; 10] = [
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "prompts",
    "propertyIsEnumerable",
    "resources",
    "then",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// Returns the name of the method for a tool, prompt or resource.
pub(super) fn method_name(name: &str) -> String {
    let camel = camel_case(name);
    match camel.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{camel}"),
        Some(_) if TAKEN_METHODS.contains(&camel.as_str()) => format!("{camel}_"),
        Some(_) => camel,
    }
}

/// Returns the name of the class for a server.
pub(super) fn class_name(name: &str) -> String {
    let pascal = pascal_case(name);
    match pascal.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => pascal,
        _ => format!("Server{pascal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{class_name, method_name};

    #[test]
    fn any_name_becomes_an_identifier() {
        let cases = [
            ("create_issue", "createIssue", "CreateIssue"),
            ("delete", "delete", "Delete"),
            ("constructor", "constructor_", "Constructor"),
            ("to_string", "toString_", "ToString"),
            ("__proto__", "proto", "Proto"),
            ("2d", "_2d", "Server2d"),
            ("*/", "unnamed", "Server"),
        ];
        for (name, method, class) in cases {
            assert_eq!(method_name(name), method, "{name}");
            assert_eq!(class_name(name), class, "{name}");
        }
    }
}

//! Documentation comments.

use serde_json::Value;

use super::{expression::Printer, identifier::is_plain};
use crate::shape::{Bound, Literal, NumberType, StringType, Type, TypeKind};

/// The width of a line of documentation.
const WIDTH: usize = 96;
/// The longest default, or schema, that is shown.
const MAX_VALUE: usize = 120;
/// How many values of a type without an item are listed.
const MAX_LITERALS: usize = 20;

/// Returns a documentation comment of these paragraphs, indented by this many spaces.
/// Code in them becomes plain text: it would be run as a test.
///
/// ```
/// use bowline_schema::print::rust::doc_comment;
///
/// assert_eq!(doc_comment(&["Rolls dice.".into(), "Twice.".into()], 0), "\
/// /// Rolls dice.
/// ///
/// /// Twice.
/// ");
/// ```
#[must_use]
pub fn doc_comment(paragraphs: &[String], indent: usize) -> String {
    let mut out = String::new();
    write_docs(&mut out, paragraphs, indent);
    out
}

/// Writes documentation, indented by this many spaces.
pub(super) fn write_docs(out: &mut String, paragraphs: &[String], indent: usize) {
    let mut is_first = true;
    for paragraph in paragraphs.iter().filter(|paragraph| !paragraph.is_empty()) {
        if !is_first {
            write_line(out, "", indent);
        }
        is_first = false;
        for line in doc_lines(paragraph, WIDTH.saturating_sub(indent + 4)) {
            write_line(out, &line, indent);
        }
    }
}

fn write_line(out: &mut String, line: &str, indent: usize) {
    let comment = format!("/// {line}");
    out.push_str(&" ".repeat(indent));
    out.push_str(comment.trim_end());
    out.push('\n');
}

/// Breaks a text into lines for a documentation comment. Code in it becomes plain
/// text: it would be run as a test.
fn doc_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_code = false;
    for line in text.trim().lines() {
        let line: String = line
            .chars()
            .map(|character| if character == '\t' { ' ' } else { character })
            .filter(|character| is_plain(*character))
            .collect();
        let line = line.trim_end();
        let trimmed = line.trim_start();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if is_fence {
            let fence = if in_code { "```" } else { "```text" };
            lines.push(fence.to_owned());
            in_code = !in_code;
            continue;
        }
        if in_code {
            lines.push(line.to_owned());
            continue;
        }
        // Four spaces would begin a block of code.
        let indent = " ".repeat((line.len() - trimmed.len()).min(3));
        lines.extend(wrap(trimmed, &indent, width));
    }
    if in_code {
        lines.push("```".to_owned());
    }
    lines
}

fn wrap(text: &str, indent: &str, width: usize) -> Vec<String> {
    let mut lines = vec![indent.to_owned()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a first line");
        let is_empty = last.trim().is_empty();
        if !is_empty && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{indent}{word}"));
        } else {
            if !is_empty {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

impl Printer<'_> {
    /// Returns what the schema says about the use of a type, in paragraphs.
    pub(super) fn use_docs(&self, ty: &Type) -> Vec<String> {
        let text = ty.annotations.description.as_ref();
        let text = text.or(ty.annotations.title.as_ref());
        let mut facts = self.restrictions(ty);
        if let Some(default) = &ty.annotations.default {
            facts.push(format!("Default: {}.", code(default)));
        }
        vec![text.cloned().unwrap_or_default(), facts.join(" ")]
    }

    /// Returns the restrictions that the Rust type does not express.
    fn restrictions(&self, ty: &Type) -> Vec<String> {
        match &ty.kind {
            TypeKind::Integer(number) | TypeKind::Number(number) => range(number),
            TypeKind::String(string) => string_facts(string),
            TypeKind::Literals(literals) if !self.is_enum(literals) => vec![one_of(literals)],
            TypeKind::Array(array) => count_facts(array.min_items, array.max_items, "item"),
            TypeKind::Any => self.schema_fact(ty),
            _ => Vec::new(),
        }
    }

    fn schema_fact(&self, ty: &Type) -> Vec<String> {
        let schema = self.shape.schema(ty);
        let is_told = |members: &serde_json::Map<String, Value>| {
            let annotations = ["description", "title", "default", "examples"];
            members
                .keys()
                .any(|key| !annotations.contains(&key.as_str()))
        };
        match schema {
            Value::Object(members) if is_told(members) => {
                vec![format!("Schema: {}.", code(schema))]
            }
            _ => Vec::new(),
        }
    }
}

fn code(value: &Value) -> String {
    let text = value.to_string();
    let is_long = text.chars().count() > MAX_VALUE;
    let shown: String = text
        .chars()
        .take(MAX_VALUE)
        .filter(|it| *it != '`')
        .collect();
    let ellipsis = if is_long { "…" } else { "" };
    format!("`{shown}{ellipsis}`")
}

fn one_of(literals: &[Literal]) -> String {
    let listed = literals.iter().take(MAX_LITERALS);
    let mut listed: Vec<_> = listed.map(|literal| code(&literal.value)).collect();
    if literals.len() > MAX_LITERALS {
        listed.push("…".to_owned());
    }
    format!("One of {}.", listed.join(", "))
}

fn range(number: &NumberType) -> Vec<String> {
    let bound = |bound: &Option<Bound>, words: [&str; 2]| {
        bound.as_ref().map(|bound| {
            let words = words[usize::from(bound.is_exclusive)];
            format!("{words} {}", bound.value)
        })
    };
    let minimum = bound(&number.minimum, ["at least", "more than"]);
    let maximum = bound(&number.maximum, ["at most", "less than"]);
    let multiple = number.multiple_of.as_ref();
    let multiple = multiple.map(|number| format!("a multiple of {number}"));
    sentence([minimum, maximum, multiple])
}

fn string_facts(string: &StringType) -> Vec<String> {
    let mut facts = count_facts(string.min_length, string.max_length, "character");
    facts.extend(
        string
            .format
            .as_ref()
            .map(|format| format!("Format: {}.", inline(format))),
    );
    let pattern = string.pattern.as_ref();
    facts.extend(pattern.map(|pattern| format!("Pattern: {}.", inline(pattern))));
    facts
}

fn count_facts(min: Option<u64>, max: Option<u64>, unit: &str) -> Vec<String> {
    let count = |count: u64| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    let min = min
        .filter(|min| *min > 0)
        .map(|min| format!("at least {}", count(min)));
    let max = max.map(|max| format!("at most {}", count(max)));
    sentence([min, max, None])
}

fn sentence(parts: [Option<String>; 3]) -> Vec<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let joined = parts.join(", ");
    let mut chars = joined.chars();
    let first = chars.next();
    first
        .map(|first| format!("{}{}.", first.to_uppercase(), chars.as_str()))
        .into_iter()
        .collect()
}

/// Returns a text as code on one line.
fn inline(text: &str) -> String {
    let shown = text.chars().take(MAX_VALUE);
    let shown: String = shown.filter(|it| *it != '`' && is_plain(*it)).collect();
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::doc_lines;

    #[test]
    fn code_in_descriptions_is_not_run() {
        let text = "Use:\n```python\nprint(1)\n```\n    indented\n\tso\n```\nopen";
        assert_eq!(
            doc_lines(text, 80),
            [
                "Use:",
                "```text",
                "print(1)",
                "```",
                "   indented",
                " so",
                "```text",
                "open",
                "```"
            ]
        );
    }

    #[test]
    fn characters_that_deceive_are_left_out() {
        assert_eq!(doc_lines("a\u{202e}b\u{200b}c\u{7}", 80), ["abc"]);
        let words = "word ".repeat(40);
        let lines = doc_lines(&words, 60);
        assert!(lines.iter().all(|line| line.len() <= 60));
        assert_eq!(lines.join(" "), words.trim());
    }
}

//! Documentation comments.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    super::{
        facts::facts,
        hidden::is_hidden,
        value::{cut, write_json},
    },
    expression::Printer,
};
use crate::shape::{Literal, Type, TypeKind};

/// The width of a line of documentation.
const WIDTH: usize = 96;
/// The longest default, or schema, that is shown.
const MAX_VALUE: usize = 120;
/// How many values of a type without an item are listed.
const MAX_LITERALS: usize = 20;
/// Keywords that restrict nothing.
const ANNOTATIONS: [&str; 4] = ["description", "title", "default", "examples"];

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
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str("/// ");
    out.push_str(line);
    out.truncate(out.trim_end().len());
    out.push('\n');
}

/// Breaks a text into lines for a documentation comment. Code in it becomes plain
/// text: it would be run as a test.
fn doc_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_code = false;
    for line in text.trim().lines() {
        let line = plain_line(line);
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

/// Returns a line without what an editor would not show.
fn plain_line(line: &str) -> Cow<'_, str> {
    // Most are: printable ASCII.
    if line.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(line);
    }
    let plain = line
        .chars()
        .map(|character| if character == '\t' { ' ' } else { character })
        .filter(|character| !is_hidden(*character));
    Cow::Owned(plain.collect())
}

fn wrap(text: &str, indent: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut length) = (String::with_capacity(width), indent.len());
    line.push_str(indent);
    for word in text.split(' ') {
        let is_empty = length == indent.len();
        let word_length = word.chars().count();
        if !is_empty && length + 1 + word_length > width {
            lines.push(line);
            line = String::with_capacity(width);
            line.push_str(indent);
            length = indent.len();
        } else if !is_empty {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += word_length;
    }
    lines.push(line);
    lines
}

impl Printer<'_> {
    /// Returns what the schema says about the use of a type, in paragraphs.
    pub(super) fn use_docs(&self, ty: &Type) -> Vec<String> {
        let text = ty.annotations.description.as_ref();
        let text = text.or(ty.annotations.title.as_ref());
        let mut sentences = self.restrictions(ty);
        if let Some(default) = &ty.annotations.default {
            sentences.push(format!("Default: {}.", code(default)));
        }
        vec![text.cloned().unwrap_or_default(), sentences.join(" ")]
    }

    /// Returns the restrictions that the Rust type does not express, in sentences.
    fn restrictions(&self, ty: &Type) -> Vec<String> {
        match &ty.kind {
            TypeKind::Literals(literals) if !self.is_enum(literals) => vec![one_of(literals)],
            TypeKind::Any => self.schema_sentence(ty).into_iter().collect(),
            _ => sentence(&facts(ty, inline)).into_iter().collect(),
        }
    }

    fn schema_sentence(&self, ty: &Type) -> Option<String> {
        let schema = self.shape.schema(ty);
        let is_restriction = |keyword: &String| !ANNOTATIONS.contains(&keyword.as_str());
        let has_restrictions = schema.as_object()?.keys().any(is_restriction);
        has_restrictions.then(|| format!("Schema: {}.", code(schema)))
    }
}

fn one_of(literals: &[Literal]) -> String {
    let listed = literals.iter().take(MAX_LITERALS);
    let mut listed: Vec<_> = listed.map(|literal| code(&literal.value)).collect();
    if literals.len() > MAX_LITERALS {
        listed.push("…".to_owned());
    }
    format!("One of {}.", listed.join(", "))
}

fn sentence(facts: &[String]) -> Option<String> {
    let joined = facts.join(", ");
    let mut chars = joined.chars();
    let first = chars.next()?.to_uppercase();
    Some(format!("{first}{}.", chars.as_str()))
}

/// Returns a value as code on one line.
fn code(value: &Value) -> String {
    inline(&write_json(value, MAX_VALUE))
}

/// Returns a text as code on one line.
fn inline(text: &str) -> String {
    let is_shown = |character: &char| *character != '`' && !is_hidden(*character);
    let shown: String = cut(text, MAX_VALUE).chars().filter(is_shown).collect();
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

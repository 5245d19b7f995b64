//! What a schema says about a type, as JSDoc.

use serde_json::Value;

use super::{expression::Writer, layout::Doc, style::Docs};
use crate::{
    print::{
        facts::facts,
        hidden::is_hidden,
        value::{cut, write_json},
    },
    shape::{Bound, NumberType, Type, TypeKind},
};

/// How wide the lines of a comment may be.
const MAX_WIDTH: usize = 76;
/// How long defaults, examples, patterns and schemas may be.
const MAX_VALUE: usize = 300;
/// How long a comment of one sentence may be.
const MAX_BRIEF: usize = 160;
/// How many values and examples are described.
const MAX_DESCRIBED: usize = 50;
const MAX_EXAMPLES: usize = 3;

/// Keywords that a type expresses, or that are told elsewhere.
const ANNOTATIONS: [&str; 9] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "title",
];

/// Returns the comment above a type or member of this name, with what separates it
/// from what follows.
pub(super) fn comment(writer: &Writer<'_>, ty: &Type, name: &str) -> Option<Doc> {
    let style = writer.printer.style;
    let length = ty.annotations.description.as_ref().map_or(0, String::len);
    if !writer.spend(length) {
        return None;
    }
    let lines = match style.docs {
        Docs::None => return None,
        Docs::Full if !style.is_compact() => full(writer, ty, name),
        _ => brief(ty),
    };
    if lines.is_empty() || !writer.spend(16 * lines.len()) {
        return None;
    }
    Some(match style.is_compact() {
        true => Doc::text(format!("/** {} */ ", lines.join(" "))),
        false => block(lines),
    })
}

/// Writes a text as JSDoc, in lines that begin with `indent` spaces. Empty if the text
/// is.
///
/// ```
/// use bowline_schema::print::typescript::jsdoc;
///
/// assert_eq!(jsdoc("Rolls dice */", 2), "  /** Rolls dice *\\/ */\n");
/// assert_eq!(jsdoc("One.\n\nTwo.", 0), "/**\n * One.\n *\n * Two.\n */\n");
/// ```
#[must_use]
pub fn jsdoc(text: &str, indent: usize) -> String {
    let lines = text_lines(text);
    if lines.is_empty() {
        return String::new();
    }
    let margin = " ".repeat(indent);
    let text = Doc::List(vec![block(lines)]).render();
    let lines = text.lines().map(|line| format!("{margin}{line}\n"));
    lines.collect()
}

/// Lays out lines as a comment, ending with a line break.
fn block(lines: Vec<String>) -> Doc {
    if let [line] = &lines[..] {
        return Doc::List(vec![Doc::text(format!("/** {line} */")), Doc::HardLine]);
    }
    let mut docs = vec![Doc::text("/**"), Doc::HardLine];
    for line in lines {
        docs.push(Doc::text(format!(" * {line}").trim_end().to_owned()));
        docs.push(Doc::HardLine);
    }
    docs.extend([Doc::text(" */"), Doc::HardLine]);
    Doc::List(docs)
}

/// Returns everything that is said about a type.
fn full(writer: &Writer<'_>, ty: &Type, name: &str) -> Vec<String> {
    let mut lines = described(ty, name).map_or(Vec::new(), text_lines);
    lines.extend(literal_lines(ty));
    let tags = tags(writer, ty);
    if !lines.is_empty() && !tags.is_empty() {
        lines.push(String::new());
    }
    lines.extend(tags);
    lines
}

/// Returns the description, or a title that says more than the name does.
fn described<'t>(ty: &'t Type, name: &str) -> Option<&'t str> {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let title = ty.annotations.title.as_deref();
    let title = title.filter(|title| letters(title) != letters(name));
    ty.annotations.description.as_deref().or(title)
}

/// Returns the first sentence, with the restrictions and the default.
fn brief(ty: &Type) -> Vec<String> {
    let text = ty.annotations.description.as_deref().unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let sentence = line.find(". ").map_or(line, |end| &line[..end]);
    let sentence = cut(sentence.trim_end_matches(['.', ' ']), MAX_BRIEF);
    let mut parts = facts(ty, |text| cut(text, MAX_BRIEF));
    if let Some(default) = &ty.annotations.default {
        parts.push(format!("default {}", write_json(default, MAX_BRIEF)));
    }
    parts.extend(
        ty.annotations
            .is_deprecated
            .then(|| "deprecated".to_owned()),
    );
    let facts = parts.join(", ");
    let text = match (sentence.is_empty(), facts.is_empty()) {
        (true, _) => facts,
        (false, true) => sentence,
        (false, false) => format!("{sentence}; {facts}"),
    };
    (!text.is_empty())
        .then(|| plain(&text))
        .into_iter()
        .collect()
}

/// Describes the values of a type that have titles or descriptions.
fn literal_lines(ty: &Type) -> Vec<String> {
    let TypeKind::Literals(literals) = &ty.kind else {
        return Vec::new();
    };
    let lines = literals.iter().filter_map(|literal| {
        let text = literal
            .description
            .as_deref()
            .or(literal.title.as_deref())?;
        let value = write_json(&literal.value, MAX_VALUE);
        Some(format!("- `{value}`: {text}"))
    });
    lines
        .take(MAX_DESCRIBED)
        .flat_map(|line| text_lines(&line))
        .collect()
}

fn tags(writer: &Writer<'_>, ty: &Type) -> Vec<String> {
    let mut tags = Vec::new();
    let json = |value: &Value| plain(&write_json(value, MAX_VALUE));
    if ty.annotations.is_deprecated {
        tags.push("@deprecated".to_owned());
    }
    let default = ty.annotations.default.as_ref();
    tags.extend(default.map(|default| format!("@default {}", json(default))));
    match &ty.kind {
        TypeKind::Integer(number) => {
            tags.push("@asType integer".to_owned());
            tags.extend(number_tags(number));
        }
        TypeKind::Number(number) => tags.extend(number_tags(number)),
        TypeKind::String(string) => {
            tags.extend(string.min_length.map(|min| format!("@minLength {min}")));
            tags.extend(string.max_length.map(|max| format!("@maxLength {max}")));
            let (format, pattern) = (string.format.as_ref(), string.pattern.as_ref());
            let text = |text: &str| plain(&cut(text, MAX_VALUE));
            tags.extend(format.map(|format| format!("@format {}", text(format))));
            tags.extend(pattern.map(|pattern| format!("@pattern {}", text(pattern))));
        }
        TypeKind::Array(array) => {
            tags.extend(array.min_items.map(|min| format!("@minItems {min}")));
            tags.extend(array.max_items.map(|max| format!("@maxItems {max}")));
            tags.extend(array.has_unique_items.then(|| "@uniqueItems".to_owned()));
        }
        TypeKind::Any => {
            let schema = writer.printer.shape.schema(ty);
            let is_told = schema.as_object().is_some_and(|members| {
                let mut keys = members.keys().map(String::as_str);
                keys.any(|key| !ANNOTATIONS.contains(&key))
            });
            tags.extend(is_told.then(|| format!("@schema {}", json(schema))));
        }
        _ => {}
    }
    let examples = ty.annotations.examples.iter().take(MAX_EXAMPLES);
    tags.extend(examples.map(|example| format!("@example {}", json(example))));
    tags
}

fn number_tags(number: &NumberType) -> Vec<String> {
    let tag = |bound: &Option<Bound>, names: [&str; 2]| {
        bound.as_ref().map(|bound| {
            let name = names[usize::from(bound.is_exclusive)];
            format!("@{name} {}", bound.value)
        })
    };
    let minimum = tag(&number.minimum, ["minimum", "exclusiveMinimum"]);
    let maximum = tag(&number.maximum, ["maximum", "exclusiveMaximum"]);
    let multiple = number.multiple_of.as_ref();
    let multiple = multiple.map(|number| format!("@multipleOf {number}"));
    [minimum, maximum, multiple].into_iter().flatten().collect()
}

/// Splits a text into lines that can be part of a comment.
fn text_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let text = text.trim().replace("\r\n", "\n");
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let line = plain(line);
        let is_blank = |line: &String| line.is_empty();
        if line.is_empty() && lines.last().is_none_or(is_blank) {
            continue;
        }
        lines.extend(wrapped(&line));
    }
    lines.truncate(
        lines
            .iter()
            .rposition(|line| !line.is_empty())
            .map_or(0, |last| last + 1),
    );
    lines
}

fn wrapped(line: &str) -> Vec<String> {
    // What is indented further is code, or a drawing.
    if line.chars().count() <= MAX_WIDTH || line.starts_with("    ") {
        return vec![line.to_owned()];
    }
    let margin: String = line.chars().take_while(|c| *c == ' ').collect();
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut width = 0;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if !current.is_empty() && width + 1 + length > MAX_WIDTH {
            lines.push(std::mem::take(&mut current));
        }
        match current.is_empty() {
            true => current.push_str(&margin),
            false => current.push(' '),
        }
        current.push_str(word);
        width = current.chars().count();
    }
    lines.push(current);
    lines
}

/// Makes a text harmless in a comment: it cannot end it, begin a tag, or look like
/// something else.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous = ' ';
    for c in text.chars() {
        match c {
            '/' if previous == '*' => out.push_str("\\/"),
            '@' if previous.is_whitespace() => out.push_str("\\@"),
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c if is_hidden(c) => continue,
            c => out.push(c),
        }
        previous = c;
    }
    out.truncate(out.trim_end().len());
    out
}

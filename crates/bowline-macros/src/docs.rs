//! Doc comments as strings.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Returns the `///` comment: lines joined to paragraphs, which are separated
/// by an empty line.
pub(crate) fn joined_paragraphs(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let paragraphs: Vec<String> = lines
        .split(|line| line.trim().is_empty())
        .filter(|lines| !lines.is_empty())
        .map(|lines| {
            lines
                .iter()
                .map(|line| line.trim())
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    (!paragraphs.is_empty()).then(|| paragraphs.join("\n\n"))
}

/// Returns the `///` comment with its line breaks, which lists need.
pub(crate) fn lines(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(line)
        .map(|line| {
            line.strip_prefix(' ')
                .unwrap_or(&line)
                .trim_end()
                .to_owned()
        })
        .collect();
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the first paragraph of the `///` comment.
pub(crate) fn title(attributes: &[Attribute]) -> Option<String> {
    let text = joined_paragraphs(attributes)?;
    text.split("\n\n").next().map(str::to_owned)
}

fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    match &meta.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

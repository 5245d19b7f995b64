//! A prompt's signature.

use bowline::model::Prompt;

use super::first_sentence;
use crate::output::{Paint, escape_control, escape_name, fill};

/// Formats a prompt: its description, its arguments, and what they are for.
pub(crate) fn prompt_lines(prompt: &Prompt, paint: Paint, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let summary = first_sentence(prompt.description.as_deref().unwrap_or_default());
    if !summary.is_empty() {
        lines.push(paint.dim(format!("/// {summary}")));
    }
    let arguments = prompt.arguments.iter().map(|argument| {
        let required = argument.required == Some(true);
        let suffix = if required { "" } else { "?" };
        format!("{}{suffix}", escape_name(&argument.name))
    });
    let arguments: Vec<_> = arguments.collect();
    let name = paint.bold(escape_name(&prompt.name));
    lines.push(format!("{name}({})", arguments.join(", ")));
    let names = prompt.arguments.iter();
    let column = names.map(|argument| argument.name.chars().count()).max();
    let column = column.unwrap_or_default().min(24);
    for argument in &prompt.arguments {
        let Some(text) = &argument.description else {
            continue;
        };
        let gap = column.saturating_sub(argument.name.chars().count());
        let first = format!("  {}{}  ", escape_name(&argument.name), " ".repeat(gap));
        let hanging = " ".repeat(column + 4);
        lines.extend(fill(
            escape_control(text).split_whitespace(),
            &first,
            &hanging,
            width,
        ));
    }
    lines
}

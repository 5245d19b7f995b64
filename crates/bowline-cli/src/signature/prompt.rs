//! A prompt's signature.

use bowline::proto::model::Prompt;

use super::{first_sentence, wrap::fill};
use crate::output::{Paint, clean, clean_name};

/// A prompt, line by line: what it is for, what can be filled in, and what
/// belongs there.
pub(crate) fn of_prompt(prompt: &Prompt, paint: Paint, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let about = first_sentence(prompt.description.as_deref().unwrap_or_default());
    if !about.is_empty() {
        lines.push(paint.faint(format!("/// {about}")));
    }
    let arguments = prompt.arguments.iter().map(|argument| {
        let required = argument.required == Some(true);
        let mark = if required { "" } else { "?" };
        format!("{}{mark}", clean_name(&argument.name))
    });
    let arguments: Vec<_> = arguments.collect();
    let name = paint.strong(clean_name(&prompt.name));
    lines.push(format!("{name}({})", arguments.join(", ")));
    let names = prompt.arguments.iter();
    let column = names.map(|argument| argument.name.chars().count()).max();
    let column = column.unwrap_or_default().min(24);
    for argument in &prompt.arguments {
        let Some(text) = &argument.description else {
            continue;
        };
        let gap = column.saturating_sub(argument.name.chars().count());
        let first = format!("  {}{}  ", clean_name(&argument.name), " ".repeat(gap));
        let hanging = " ".repeat(column + 4);
        lines.extend(fill(
            clean(text).split_whitespace(),
            &first,
            &hanging,
            width,
        ));
    }
    lines
}

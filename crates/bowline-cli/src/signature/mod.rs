//! Typed signatures of tools.
//!
//! `shape` parses schemas, `parameters` finds the arguments that they take;
//! `prompt` formats prompts, `tool` tools.

mod parameters;
mod prompt;
mod shape;
mod tool;

pub(crate) use self::{
    parameters::{Parameter, parameters},
    prompt::prompt_lines,
    shape::parse_shape,
    tool::{Length, Signature},
};

use crate::output::escape_control;

/// Returns a text with its lines joined.
pub(crate) fn on_one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

/// Returns the first sentence of a description, on one line.
pub(crate) fn first_sentence(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let first = first.unwrap_or_default();
    // A full stop inside a word or a number does not end it.
    let sentence = match first.find(". ") {
        Some(end) => &first[..=end],
        None => first,
    };
    escape_control(sentence).into_owned()
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_ends_at_a_stop_or_a_line() {
        assert_eq!(
            first_sentence("\n  Does v1.2 things. And more."),
            "Does v1.2 things."
        );
        assert_eq!(first_sentence("One line\nAnother"), "One line");
        assert_eq!(first_sentence(""), "");
    }
}

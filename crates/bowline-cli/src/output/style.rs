//! Colours, where there are any.

use std::fmt::Display;

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    /// A heading, or the name of what is shown.
    Strong,
    /// What matters less.
    Faint,
    /// The name of a type.
    Type,
    /// A literal, or a default.
    Value,
    /// It works.
    Good,
    /// It does not.
    Bad,
    /// It might not.
    Warning,
}

impl Paint {
    pub(crate) fn new(on: bool) -> Self {
        Self { on }
    }

    pub(crate) fn text(self, style: Style, text: impl Display) -> String {
        if !self.on {
            return text.to_string();
        }
        let code = match style {
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Type => "36",
            Style::Value => "35",
            Style::Good => "32",
            Style::Bad => "1;31",
            Style::Warning => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    pub(crate) fn strong(self, text: impl Display) -> String {
        self.text(Style::Strong, text)
    }

    pub(crate) fn faint(self, text: impl Display) -> String {
        self.text(Style::Faint, text)
    }

    pub(crate) fn error(self, text: impl Display) -> String {
        self.text(Style::Bad, text)
    }

    pub(crate) fn hint(self, text: impl Display) -> String {
        self.text(Style::Good, text)
    }
}

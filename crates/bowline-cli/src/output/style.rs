//! Colours.

use std::fmt::Display;

/// Styles text, or leaves it unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    enabled: bool,
}

/// The role of a piece of text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    /// A heading, or the name of an item.
    Bold,
    /// Less important text.
    Dim,
    /// The name of a type.
    Type,
    /// A literal, or a default.
    Value,
    /// Something works.
    Success,
    /// Something fails.
    Error,
    /// Something may fail.
    Warning,
}

impl Paint {
    pub(crate) fn new(enabled: bool) -> Self {
        Self { enabled }
    }

    pub(crate) fn text(self, style: Style, text: impl Display) -> String {
        if !self.enabled {
            return text.to_string();
        }
        let code = match style {
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Type => "36",
            Style::Value => "35",
            Style::Success => "32",
            Style::Error => "1;31",
            Style::Warning => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    pub(crate) fn bold(self, text: impl Display) -> String {
        self.text(Style::Bold, text)
    }

    pub(crate) fn dim(self, text: impl Display) -> String {
        self.text(Style::Dim, text)
    }

    pub(crate) fn error(self, text: impl Display) -> String {
        self.text(Style::Error, text)
    }

    pub(crate) fn hint(self, text: impl Display) -> String {
        self.text(Style::Success, text)
    }
}

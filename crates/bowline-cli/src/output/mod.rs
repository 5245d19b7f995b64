//! Printing results and notes.
//!
//! Results are written to standard output, everything else to standard error.
//! Colours are used only in terminals, and only if plain text was not
//! requested.

mod column;
mod content;
mod escape;
mod files;
mod path;
mod style;
mod wrap;

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::Mutex,
};

pub(crate) use bowline::registry::closest_name;
use serde::Serialize;

pub(crate) use self::{
    column::Column,
    content::{ContentParts, pretty_json, print_parts},
    escape::{escape_control, escape_name},
    files::{FileContent, SaveArgs},
    path::short_path,
    style::{Paint, Style},
    wrap::{fill, shorten, terminal_width, wrap},
};
use crate::{args::Color, failure::Failure, locks};

/// Prints results and notes.
pub(crate) struct Output {
    stdout_paint: Paint,
    stderr_paint: Paint,
    /// Notes that are not repeated.
    printed_notes: Mutex<Vec<String>>,
}

impl Output {
    pub(crate) fn new(color: Color) -> Self {
        Self {
            stdout_paint: Paint::new(color.is_enabled(io::stdout().is_terminal())),
            stderr_paint: Paint::new(color.is_enabled(io::stderr().is_terminal())),
            printed_notes: Mutex::default(),
        }
    }

    /// Returns the paint for results.
    pub(crate) fn paint(&self) -> Paint {
        self.stdout_paint
    }

    /// Writes a result as text, followed by a newline.
    pub(crate) fn line(&self, text: impl AsRef<str>) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", text.as_ref())?;
        out.flush()?;
        Ok(())
    }

    /// Writes a result as one JSON document.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        // It may contain text from servers: characters that could control a
        // terminal are escaped, as everywhere.
        let json = serde_json::to_string(value).map_err(io::Error::from)?;
        self.json_text(&json)
    }

    /// Prints a note to standard error. Write errors are ignored.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        let _ = writeln!(io::stderr().lock(), "{}", text.as_ref());
    }

    /// Prints a note unless it was printed before.
    pub(crate) fn note_once(&self, text: String) {
        let mut printed = locks::lock(&self.printed_notes);
        if !printed.contains(&text) {
            self.note(&text);
            printed.push(text);
        }
    }

    /// Returns the paint for notes.
    pub(crate) fn note_paint(&self) -> Paint {
        self.stderr_paint
    }

    /// Prints a failure and its hints.
    pub(crate) fn print_failure(&self, failure: &Failure) {
        let paint = self.stderr_paint;
        // Messages may contain text from servers.
        let message = escape_control(&failure.message);
        self.note(format!("{} {message}", paint.error("error:")));
        for hint in &failure.hints {
            self.note(format!(
                "  {} {}",
                paint.hint("hint:"),
                escape_control(hint)
            ));
        }
    }
}

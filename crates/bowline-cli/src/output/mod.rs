//! What people and programs read.
//!
//! Results go to standard output, everything else to standard error. Nothing
//! is coloured unless a terminal shows it and nobody asked for plain text.

mod content;
mod escape;
mod files;
mod path;
mod style;
mod suggest;

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{Mutex, PoisonError},
};

use serde::Serialize;

pub(crate) use self::{
    content::{ContentParts, pretty_json, print_parts},
    escape::{escape_control, escape_name},
    files::{FileContent, SaveArgs},
    path::short_path,
    style::{Paint, Style},
    suggest::closest_match,
};
use crate::{args::Color, failure::Failure};

/// Where results and remarks go.
pub(crate) struct Output {
    stdout_paint: Paint,
    stderr_paint: Paint,
    /// What need not be said again.
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

    /// How results are painted.
    pub(crate) fn paint(&self) -> Paint {
        self.stdout_paint
    }

    /// Writes a result for people: as it is, with a line end after it.
    pub(crate) fn line(&self, text: impl AsRef<str>) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", text.as_ref())?;
        out.flush()?;
        Ok(())
    }

    /// Writes a result for programs: one JSON document.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        // Texts of servers are in these, too: what they could steer a terminal
        // with is escaped, as in all that is printed.
        let json = serde_json::to_string(value).map_err(io::Error::from)?;
        self.json_text(&json)
    }

    /// Says something on standard error. If nobody reads it, nothing is lost.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        let _ = writeln!(io::stderr().lock(), "{}", text.as_ref());
    }

    /// Says something that was not said before.
    pub(crate) fn note_once(&self, text: String) {
        let mut printed = self
            .printed_notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !printed.contains(&text) {
            self.note(&text);
            printed.push(text);
        }
    }

    /// How remarks are painted.
    pub(crate) fn note_paint(&self) -> Paint {
        self.stderr_paint
    }

    /// Says what went wrong, and what could be done.
    pub(crate) fn print_failure(&self, failure: &Failure) {
        let paint = self.stderr_paint;
        // Servers have their say in these.
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

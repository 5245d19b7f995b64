//! What people and programs read.
//!
//! Results go to standard output, everything else to standard error. Nothing
//! is coloured unless a terminal shows it and nobody asked for plain text.

mod clean;
mod content;
mod files;
mod path;
mod similar;
mod style;

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{Mutex, PoisonError},
};

use serde::Serialize;

pub(crate) use self::{
    clean::{clean, clean_name},
    content::{Parts, pretty, print_parts},
    files::{Piece, SaveArgs},
    path::short,
    similar::similar,
    style::{Paint, Style},
};
use crate::{args::Color, failure::Failure};

/// Where results and remarks go.
pub(crate) struct Output {
    results: Paint,
    remarks: Paint,
    /// What need not be said again.
    said: Mutex<Vec<String>>,
}

impl Output {
    pub(crate) fn new(color: Color) -> Self {
        Self {
            results: Paint::new(color.wanted(io::stdout().is_terminal())),
            remarks: Paint::new(color.wanted(io::stderr().is_terminal())),
            said: Mutex::default(),
        }
    }

    /// How results are painted.
    pub(crate) fn paint(&self) -> Paint {
        self.results
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
        self.verbatim(&json)
    }

    /// Says something on standard error. If nobody reads it, nothing is lost.
    pub(crate) fn remark(&self, text: impl AsRef<str>) {
        let _ = writeln!(io::stderr().lock(), "{}", text.as_ref());
    }

    /// Says something that was not said before.
    pub(crate) fn remark_once(&self, text: String) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.contains(&text) {
            self.remark(&text);
            said.push(text);
        }
    }

    /// How remarks are painted.
    pub(crate) fn remark_paint(&self) -> Paint {
        self.remarks
    }

    /// Says what went wrong, and what could be done.
    pub(crate) fn failure(&self, failure: &Failure) {
        let paint = self.remarks;
        // Servers have their say in these.
        let message = clean(&failure.message);
        self.remark(format!("{} {message}", paint.error("error:")));
        for hint in &failure.hints {
            self.remark(format!("  {} {}", paint.hint("hint:"), clean(hint)));
        }
    }
}

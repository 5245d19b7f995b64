//! Printing the tour: at reading speed, or as one document.

use std::{
    io::{IsTerminal as _, stdout},
    time::Duration,
};

use serde::Serialize;
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    output::{Style, escape_control},
};

/// Reading time per character, and the minimum per line.
const CHAR_PAUSE: Duration = Duration::from_millis(9);
const LINE_PAUSE: Duration = Duration::from_millis(150);
/// The pause before a section.
const SECTION_PAUSE: Duration = Duration::from_millis(700);

/// Prints the tour.
pub(super) struct Screen<'a> {
    pub(super) cx: &'a Context,
    has_pauses: bool,
    sections: Vec<Section>,
}

/// A section of the tour.
#[derive(Serialize)]
struct Section {
    title: String,
    commands: Vec<String>,
    output: Vec<String>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(cx: &'a Context, fast: bool) -> Self {
        Self {
            cx,
            has_pauses: !fast && !cx.json() && stdout().is_terminal(),
            sections: Vec::new(),
        }
    }

    /// Starts a section.
    pub(super) async fn section(&mut self, title: &str) -> Result<(), Failure> {
        let number = self.sections.len() + 1;
        self.sections.push(Section {
            title: title.to_owned(),
            commands: Vec::new(),
            output: Vec::new(),
        });
        self.pause(SECTION_PAUSE).await;
        let title = self.cx.output.paint().bold(format!("{number}. {title}"));
        self.line(format!("\n{title}")).await
    }

    /// Prints a paragraph.
    pub(super) async fn paragraph(&mut self, text: &str) -> Result<(), Failure> {
        self.line(text.to_owned()).await
    }

    /// Prints the command that does what is shown next.
    pub(super) async fn command(&mut self, command: &str) -> Result<(), Failure> {
        if let Some(current) = self.sections.last_mut() {
            current.commands.push(command.to_owned());
        }
        let paint = self.cx.output.paint();
        let (prompt, command) = (paint.dim("$"), paint.text(Style::Type, command));
        self.line(format!("{prompt} {command}")).await?;
        self.pause(SECTION_PAUSE).await;
        Ok(())
    }

    /// Prints output, which may have several lines.
    pub(super) async fn output(&mut self, text: &str) -> Result<(), Failure> {
        for line in escape_control(text).lines() {
            if let Some(current) = self.sections.last_mut() {
                current.output.push(line.to_owned());
            }
            self.line(format!("  {line}")).await?;
        }
        Ok(())
    }

    /// Prints that something worked as promised.
    pub(super) async fn success(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(current) = self.sections.last_mut() {
            current.output.push(text.to_owned());
        }
        let mark = self.cx.output.paint().text(Style::Success, "✓");
        self.line(format!("{mark} {}", escape_control(text))).await
    }

    /// Ends the tour; prints the JSON document, if requested.
    pub(super) fn finish(&self, ok: bool) -> Result<(), Failure> {
        if !self.cx.json() {
            return Ok(());
        }
        let document = json!({"ok": ok, "scenes": self.sections});
        self.cx.output.json(&document)
    }

    async fn line(&self, text: String) -> Result<(), Failure> {
        if self.cx.json() {
            return Ok(());
        }
        self.cx.output.line(&text)?;
        let char_count = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        self.pause(LINE_PAUSE + CHAR_PAUSE.saturating_mul(char_count))
            .await;
        Ok(())
    }

    async fn pause(&self, duration: Duration) {
        if self.has_pauses {
            tokio::time::sleep(duration).await;
        }
    }
}

//! How the tour is shown: at a pace to read at, or as one document.

use std::{
    io::{IsTerminal as _, stdout},
    time::Duration,
};

use serde::Serialize;
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    output::{Style, clean},
};

/// How long a reader takes for one letter, and for one line however short.
const LETTER: Duration = Duration::from_millis(9);
const LINE: Duration = Duration::from_millis(150);
/// The pause before something new.
const SCENE: Duration = Duration::from_millis(700);

/// Where the tour is shown.
pub(super) struct Screen<'a> {
    pub(super) cx: &'a Context,
    paced: bool,
    scenes: Vec<Scene>,
}

/// What is shown together.
#[derive(Serialize)]
struct Scene {
    title: String,
    commands: Vec<String>,
    output: Vec<String>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(cx: &'a Context, fast: bool) -> Self {
        Self {
            cx,
            paced: !fast && !cx.json() && stdout().is_terminal(),
            scenes: Vec::new(),
        }
    }

    /// Begins something new.
    pub(super) async fn scene(&mut self, title: &str) -> Result<(), Failure> {
        let number = self.scenes.len() + 1;
        self.scenes.push(Scene {
            title: title.to_owned(),
            commands: Vec::new(),
            output: Vec::new(),
        });
        self.pause(SCENE).await;
        let title = self.cx.output.paint().strong(format!("{number}. {title}"));
        self.line(format!("\n{title}")).await
    }

    /// Says something in between.
    pub(super) async fn say(&mut self, text: &str) -> Result<(), Failure> {
        self.line(text.to_owned()).await
    }

    /// Shows the command that does what is shown next.
    pub(super) async fn command(&mut self, command: &str) -> Result<(), Failure> {
        if let Some(scene) = self.scenes.last_mut() {
            scene.commands.push(command.to_owned());
        }
        let paint = self.cx.output.paint();
        let (prompt, command) = (paint.faint("$"), paint.text(Style::Type, command));
        self.line(format!("{prompt} {command}")).await?;
        self.pause(SCENE).await;
        Ok(())
    }

    /// Shows what came out, which may be of several lines.
    pub(super) async fn output(&mut self, text: &str) -> Result<(), Failure> {
        for line in clean(text).lines() {
            if let Some(scene) = self.scenes.last_mut() {
                scene.output.push(line.to_owned());
            }
            self.line(format!("  {line}")).await?;
        }
        Ok(())
    }

    /// Shows that something that was promised is so.
    pub(super) async fn proof(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(scene) = self.scenes.last_mut() {
            scene.output.push(text.to_owned());
        }
        let mark = self.cx.output.paint().text(Style::Good, "✓");
        self.line(format!("{mark} {}", clean(text))).await
    }

    /// Ends the tour, for programs: all at once.
    pub(super) fn end(&self, ok: bool) -> Result<(), Failure> {
        if !self.cx.json() {
            return Ok(());
        }
        let document = json!({"ok": ok, "scenes": self.scenes});
        self.cx.output.json(&document)
    }

    async fn line(&self, text: String) -> Result<(), Failure> {
        if self.cx.json() {
            return Ok(());
        }
        self.cx.output.line(&text)?;
        let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        self.pause(LINE + LETTER.saturating_mul(letters)).await;
        Ok(())
    }

    async fn pause(&self, time: Duration) {
        if self.paced {
            tokio::time::sleep(time).await;
        }
    }
}

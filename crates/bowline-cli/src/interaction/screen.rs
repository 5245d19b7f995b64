//! Standard error during a call: a status line at the bottom, and lines that
//! scroll above it.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{Mutex, MutexGuard},
};

use crate::{locks, output::Paint};

/// Standard error during a call.
pub(crate) struct Screen {
    paint: Paint,
    live: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The status line.
    status_line: String,
    /// Whether it is visible.
    drawn: bool,
    /// The number of open prompts: nothing may scroll past them.
    pauses: u32,
    queued: Vec<String>,
}

impl Screen {
    pub(crate) fn new(paint: Paint) -> Self {
        Self {
            paint,
            live: io::stderr().is_terminal(),
            state: Mutex::default(),
        }
    }

    /// Returns whether it is a terminal.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Returns the number of columns.
    pub(crate) fn width(&self) -> usize {
        let size = terminal_size::terminal_size_of(io::stderr());
        size.map_or(80, |(width, _)| usize::from(width.0)).max(20)
    }

    /// Prints a line; deferred while a prompt is open.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        let mut state = self.state();
        if state.pauses > 0 {
            state.queued.push(text.as_ref().to_owned());
        } else {
            state.print(text.as_ref());
        }
    }

    /// Sets the status line. An empty one is removed.
    pub(crate) fn set_status_line(&self, text: String) {
        if !self.live {
            return;
        }
        let mut state = self.state();
        if state.status_line == text {
            return;
        }
        state.status_line = text;
        state.clear();
        state.draw();
    }

    /// Defers output while a prompt is open.
    pub(crate) fn pause(&self) -> ScreenPause<'_> {
        let mut state = self.state();
        state.clear();
        state.pauses += 1;
        ScreenPause { screen: self }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locks::lock(&self.state)
    }
}

impl State {
    fn print(&mut self, text: &str) {
        self.clear();
        write(&format!("{text}\n"));
        self.draw();
    }

    fn draw(&mut self) {
        if self.pauses == 0 && !self.status_line.is_empty() {
            write(&self.status_line);
            self.drawn = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write("\r\u{1b}[2K");
        }
    }
}

/// Write errors are ignored.
fn write(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Defers output until dropped.
pub(crate) struct ScreenPause<'a> {
    screen: &'a Screen,
}

impl Drop for ScreenPause<'_> {
    fn drop(&mut self) {
        let mut state = self.screen.state();
        state.pauses -= 1;
        if state.pauses == 0 {
            for line in std::mem::take(&mut state.queued) {
                state.print(&line);
            }
            state.draw();
        }
    }
}

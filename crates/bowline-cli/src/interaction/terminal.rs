//! The user's terminal: printing and reading lines.
//!
//! Uses the terminal itself, not the standard streams, which may be redirected.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, IsTerminal as _, Write as _},
    sync::Mutex,
    thread,
};

use tokio::sync::{Mutex as AsyncMutex, mpsc};

use crate::{locks, output::Paint};

/// A terminal with a user.
pub(crate) struct Terminal {
    out: Mutex<File>,
    lines: AsyncMutex<LineReader>,
    paint: Paint,
}

impl Terminal {
    /// Opens the controlling terminal, if one of the standard streams is
    /// connected to it. Otherwise it belongs to another program, which started
    /// us.
    pub(crate) fn open(color: impl FnOnce(bool) -> bool) -> Option<Self> {
        let has_terminal =
            io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
        if !has_terminal {
            return None;
        }
        let (input, output) = if cfg!(windows) {
            ("CONIN$", "CONOUT$")
        } else {
            ("/dev/tty", "/dev/tty")
        };
        let input = File::open(input).ok()?;
        let output = OpenOptions::new().write(true).open(output).ok()?;
        Some(Self {
            out: Mutex::new(output),
            lines: AsyncMutex::new(LineReader::spawn(input)?),
            paint: Paint::new(color(true)),
        })
    }

    /// Returns the paint for this terminal.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Prints a line. Text from servers must be escaped first.
    pub(crate) fn print(&self, text: impl AsRef<str>) {
        self.write(&format!("{}\n", text.as_ref()));
    }

    /// Asks for a line. `None` if the user ends the input.
    pub(crate) async fn ask(&self, prompt: impl AsRef<str>) -> Option<String> {
        let mut lines = self.lines.lock().await;
        lines.request_line();
        self.write(prompt.as_ref());
        let guard = PromptGuard { terminal: self };
        let line = lines.next().await;
        std::mem::forget(guard);
        if line.is_none() {
            self.write("\n");
        }
        line
    }

    /// Write errors are ignored.
    fn write(&self, text: &str) {
        let mut out = locks::lock(&self.out);
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }
}

/// An unanswered prompt. If it is dropped, the question is void, and the cursor
/// moves to a new line.
struct PromptGuard<'a> {
    terminal: &'a Terminal,
}

impl Drop for PromptGuard<'_> {
    fn drop(&mut self) {
        self.terminal.write("\n");
    }
}

/// Reads lines on a separate thread, one at a time: reading ahead would take
/// input meant for the next program.
struct LineReader {
    requests: std::sync::mpsc::Sender<()>,
    lines_read: mpsc::UnboundedReceiver<Option<String>>,
    /// Whether the thread is reading for a prompt that was dropped.
    reading: bool,
}

impl LineReader {
    fn spawn(input: File) -> Option<Self> {
        let (request_sender, request_receiver) = std::sync::mpsc::channel();
        let (line_sender, line_receiver) = mpsc::unbounded_channel();
        let reader = move || {
            let mut input = BufReader::new(input);
            while request_receiver.recv().is_ok() {
                let mut line = Vec::new();
                let is_end = !matches!(input.read_until(b'\n', &mut line), Ok(1..));
                let line = String::from_utf8_lossy(&line);
                let line = line.trim_end_matches(['\n', '\r']);
                if line_sender
                    .send((!is_end).then(|| line.to_owned()))
                    .is_err()
                {
                    return;
                }
            }
        };
        thread::Builder::new().spawn(reader).ok()?;
        Some(Self {
            requests: request_sender,
            lines_read: line_receiver,
            reading: false,
        })
    }

    /// Requests a line, and discards lines that answered dropped prompts.
    fn request_line(&mut self) {
        while self.lines_read.try_recv().is_ok() {
            self.reading = false;
        }
        if !self.reading {
            self.reading = self.requests.send(()).is_ok();
        }
    }

    async fn next(&mut self) -> Option<String> {
        let line = self.lines_read.recv().await.flatten();
        self.reading = false;
        line
    }
}

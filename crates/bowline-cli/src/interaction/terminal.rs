//! The person at the terminal: shown things, and asked for lines.
//!
//! The terminal itself is spoken to, not the standard streams: these may come
//! from a file, or go to another program.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, IsTerminal as _, Write as _},
    sync::{Mutex, PoisonError},
    thread,
};

use tokio::sync::{Mutex as AsyncMutex, mpsc};

use crate::output::Paint;

/// A terminal with a person at it.
pub(crate) struct Terminal {
    out: Mutex<File>,
    lines: AsyncMutex<LineReader>,
    paint: Paint,
}

impl Terminal {
    /// The terminal that this command runs in, if it shows or feeds any of the
    /// standard streams. One that does not belongs to somebody else's program,
    /// which has started us.
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

    /// How things shown here are painted.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Shows a line. What servers wrote must be cleaned before.
    pub(crate) fn print(&self, text: impl AsRef<str>) {
        self.write(&format!("{}\n", text.as_ref()));
    }

    /// Asks for a line. There is none if the person ended the input.
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

    /// If it cannot be shown, there is nobody to tell.
    fn write(&self, text: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }
}

/// A prompt that stands there unanswered. If it is dropped the question is
/// void, and what comes next should not stand on the same line.
struct PromptGuard<'a> {
    terminal: &'a Terminal,
}

impl Drop for PromptGuard<'_> {
    fn drop(&mut self) {
        self.terminal.write("\n");
    }
}

/// Lines of the terminal, read by a thread of its own, each when it is wanted:
/// reading ahead would take what is meant for the next program.
struct LineReader {
    requests: std::sync::mpsc::Sender<()>,
    lines_read: mpsc::UnboundedReceiver<Option<String>>,
    /// Whether the thread is reading for somebody who no longer waits.
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

    /// Wants a line, and forgets those that answered what is void.
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

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

use tokio::sync::{Mutex as Turn, mpsc};

use crate::output::Paint;

/// A terminal with a person at it.
pub(crate) struct Terminal {
    out: Mutex<File>,
    lines: Turn<Lines>,
    paint: Paint,
}

impl Terminal {
    /// The terminal that this command runs in, if it shows or feeds any of the
    /// standard streams. One that does not belongs to somebody else's program,
    /// which has started us.
    pub(crate) fn open(color: impl FnOnce(bool) -> bool) -> Option<Self> {
        let ours =
            io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
        if !ours {
            return None;
        }
        let (keys, screen) = if cfg!(windows) {
            ("CONIN$", "CONOUT$")
        } else {
            ("/dev/tty", "/dev/tty")
        };
        let keys = File::open(keys).ok()?;
        let screen = OpenOptions::new().write(true).open(screen).ok()?;
        Some(Self {
            out: Mutex::new(screen),
            lines: Turn::new(Lines::of(keys)?),
            paint: Paint::new(color(true)),
        })
    }

    /// How things shown here are painted.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Shows a line. What servers wrote must be cleaned before.
    pub(crate) fn show(&self, text: impl AsRef<str>) {
        self.write(&format!("{}\n", text.as_ref()));
    }

    /// Asks for a line. There is none if the person ended the input.
    pub(crate) async fn ask(&self, prompt: impl AsRef<str>) -> Option<String> {
        let mut lines = self.lines.lock().await;
        lines.begin();
        self.write(prompt.as_ref());
        let waiting = Waiting { terminal: self };
        let line = lines.next().await;
        std::mem::forget(waiting);
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
struct Waiting<'a> {
    terminal: &'a Terminal,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.terminal.write("\n");
    }
}

/// Lines of the terminal, read by a thread of its own, each when it is wanted:
/// reading ahead would take what is meant for the next program.
struct Lines {
    wanted: std::sync::mpsc::Sender<()>,
    typed: mpsc::UnboundedReceiver<Option<String>>,
    /// Whether the thread is reading for somebody who no longer waits.
    reading: bool,
}

impl Lines {
    fn of(keys: File) -> Option<Self> {
        let (wanted, requests) = std::sync::mpsc::channel();
        let (lines, typed) = mpsc::unbounded_channel();
        let reader = move || {
            let mut keys = BufReader::new(keys);
            while requests.recv().is_ok() {
                let mut line = Vec::new();
                let end = !matches!(keys.read_until(b'\n', &mut line), Ok(1..));
                let line = String::from_utf8_lossy(&line);
                let line = line.trim_end_matches(['\n', '\r']);
                if lines.send((!end).then(|| line.to_owned())).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().spawn(reader).ok()?;
        Some(Self {
            wanted,
            typed,
            reading: false,
        })
    }

    /// Wants a line, and forgets those that answered what is void.
    fn begin(&mut self) {
        while self.typed.try_recv().is_ok() {
            self.reading = false;
        }
        if !self.reading {
            self.reading = self.wanted.send(()).is_ok();
        }
    }

    async fn next(&mut self) -> Option<String> {
        let line = self.typed.recv().await.flatten();
        self.reading = false;
        line
    }
}

//! A terminal with the command in it, and somebody who types.

use std::{
    io::{Read as _, Write as _},
    process::{Child, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use pty_process::{
    Size,
    blocking::{Command, Pty, open},
};

use crate::rig::{Ran, Rig, finish};

/// How long to wait for something to be shown before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal in which the command runs. Its result goes into a pipe, so that
/// what is shown is only what was meant to be.
pub(crate) struct Terminal {
    screen: Arc<Pty>,
    news: mpsc::Receiver<String>,
    /// All that was shown.
    shown: String,
    /// How much of that has been waited for.
    seen: usize,
    child: Child,
}

impl Terminal {
    /// Runs the command with these arguments.
    pub(crate) fn run(rig: &Rig, args: &[&str]) -> Self {
        Self::start(Command::from(rig.command(args)).stdout(Stdio::piped()))
    }

    /// Runs the command with these arguments and nothing on standard input.
    pub(crate) fn run_without_input(rig: &Rig, args: &[&str]) -> Self {
        let command = Command::from(rig.command(args));
        Self::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))
    }

    pub(crate) fn start(command: Command) -> Self {
        let (screen, line) = open().expect("there are terminals");
        screen.resize(Size::new(40, 100)).expect("it has a size");
        let child = command.spawn(line).expect("the command starts");
        let screen = Arc::new(screen);
        let (sender, news) = mpsc::channel();
        let watched = Arc::clone(&screen);
        thread::spawn(move || {
            let mut some = [0; 4096];
            // It fails when nobody holds the other end any more.
            while let Ok(length @ 1..) = (&*watched).read(&mut some) {
                let text = String::from_utf8_lossy(&some[..length]).replace('\r', "");
                if sender.send(text).is_err() {
                    return;
                }
            }
        });
        Self {
            screen,
            news,
            shown: String::new(),
            seen: 0,
            child,
        }
    }

    /// Waits until this is shown, after what was waited for last.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> &mut Self {
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return self;
            }
            match self.news.recv_timeout(PATIENCE) {
                Ok(more) => self.shown.push_str(&more),
                Err(_) => panic!("{text:?} is not shown:\n{}", self.shown),
            }
        }
    }

    /// The rest of the line after what was waited for last.
    #[track_caller]
    pub(crate) fn rest_of_line(&mut self) -> String {
        let from = self.seen;
        self.wait_for("\n");
        self.shown[from..self.seen - 1].to_owned()
    }

    /// Types a line.
    pub(crate) fn type_line(&mut self, text: &str) -> &mut Self {
        self.press(&format!("{text}\n"))
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        let mut screen = &*self.screen;
        screen.write_all(keys.as_bytes()).expect("it can be typed");
        self
    }

    /// Waits for the command to end. What was shown stands for its remarks.
    pub(crate) fn end(mut self) -> Ran {
        let mut ran = finish(self.child);
        while let Ok(more) = self.news.recv_timeout(PATIENCE) {
            self.shown.push_str(&more);
        }
        ran.stderr = self.shown;
        ran
    }
}

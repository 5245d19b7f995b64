//! How far a call has come, as a line.

use std::time::{Duration, Instant};

use bowline::proto::model::ProgressParams;

use super::{one_line, screen::Screen};

/// How long a call may take before anything is said about it.
const PATIENCE: Duration = Duration::from_millis(800);
/// How often plain lines come, at most.
const PLAIN_EVERY: Duration = Duration::from_secs(1);
const BAR: usize = 24;

/// How far one call has come.
pub(crate) struct Progress<'a> {
    screen: &'a Screen,
    what: String,
    /// Whether to say it in lines where no terminal shows it.
    plain: bool,
    began: Instant,
    said: Option<Instant>,
    last: Option<ProgressParams>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(screen: &'a Screen, what: &str, plain: bool) -> Self {
        Self {
            screen,
            what: one_line(what),
            plain: plain && !screen.is_live(),
            began: Instant::now(),
            said: None,
            last: None,
        }
    }

    /// The server has told how far it is.
    pub(crate) fn told(&mut self, progress: ProgressParams) {
        let done = is_whole(&progress);
        self.last = Some(progress);
        self.tick();
        let due = self.said.is_none_or(|at| at.elapsed() >= PLAIN_EVERY);
        if self.plain && (due || done) {
            self.said = Some(Instant::now());
            self.screen.line(self.text());
        }
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self) {
        if !self.screen.is_live() {
            return;
        }
        let width = self.screen.width() - 1;
        if self.last.is_some() {
            self.screen.bottom(fitting(&self.text(), width));
        } else if self.began.elapsed() >= PATIENCE {
            let seconds = self.began.elapsed().as_secs();
            let text = format!("{} … {seconds} s", self.what);
            let text = fitting(&text, width);
            self.screen.bottom(self.screen.paint().faint(text));
        }
    }

    fn text(&self) -> String {
        let said = self.last.as_ref().map(rendering).unwrap_or_default();
        format!("{} {said}", self.what)
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.screen.bottom(String::new());
    }
}

fn is_whole(progress: &ProgressParams) -> bool {
    let total = progress.total.map(bowline::proto::model::Number::as_f64);
    total.is_some_and(|total| progress.progress.as_f64() >= total)
}

fn rendering(progress: &ProgressParams) -> String {
    let message = progress
        .message
        .as_deref()
        .map(one_line)
        .unwrap_or_default();
    let at = progress.progress.as_f64();
    let total = progress.total.map(bowline::proto::model::Number::as_f64);
    let text = match total.filter(|total| *total > 0.0 && at.is_finite()) {
        Some(total) => {
            let share = (at / total).clamp(0.0, 1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it lies between nothing and the length of the bar"
            )]
            let filled = (share * BAR as f64).round() as usize;
            let bar = format!("{}{}", "=".repeat(filled), " ".repeat(BAR - filled));
            format!("[{bar}] {:3.0} % {message}", share * 100.0)
        }
        None => format!("[{}] {message}", progress.progress),
    };
    text.trim_end().to_owned()
}

/// As much of the text as fits. What is not ASCII may be two columns wide.
fn fitting(text: &str, width: usize) -> String {
    let mut left = width;
    let fits = |letter: &char| {
        let columns = if letter.is_ascii() { 1 } else { 2 };
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn progress_in_words() {
        let cases = [
            (
                json!({"progress": 5, "total": 10}),
                "[============            ]  50 %",
            ),
            (
                json!({"progress": 30, "total": 10, "message": "done\u{1b}[2J"}),
                "[========================] 100 % done\\u{1b}[2J",
            ),
            (json!({"progress": 7, "message": "pages"}), "[7] pages"),
            (json!({"progress": 7, "total": 0}), "[7]"),
        ];
        for (mut params, text) in cases {
            params["progressToken"] = 1.into();
            let params: ProgressParams = serde_json::from_value(params).expect("progress");
            assert_eq!(rendering(&params), text);
        }
    }

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(fitting("abcdef", 4), "abcd");
        assert_eq!(fitting("ab漢字", 5), "ab漢");
        assert_eq!(fitting("ab漢字cd", 4), "ab漢");
    }
}

//! Progress of a call, as one line.

use std::time::{Duration, Instant};

use bowline::model::ProgressParams;

use super::{one_line, screen::Screen};

/// How long a call may take before progress is shown.
const SHOW_AFTER: Duration = Duration::from_millis(800);
/// Minimum interval between plain lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(1);
const BAR_WIDTH: usize = 24;

/// Progress of one call.
pub(crate) struct Progress<'a> {
    screen: &'a Screen,
    label: String,
    /// Whether to print lines without a terminal.
    plain: bool,
    started_at: Instant,
    last_shown: Option<Instant>,
    last: Option<ProgressParams>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(screen: &'a Screen, what: &str, plain: bool) -> Self {
        Self {
            screen,
            label: one_line(what),
            plain: plain && !screen.is_live(),
            started_at: Instant::now(),
            last_shown: None,
            last: None,
        }
    }

    /// Handles a progress notification.
    pub(crate) fn update(&mut self, progress: ProgressParams) {
        let done = is_complete(&progress);
        self.last = Some(progress);
        self.tick();
        let due = self
            .last_shown
            .is_none_or(|shown_at| shown_at.elapsed() >= PLAIN_INTERVAL);
        if self.plain && (due || done) {
            self.last_shown = Some(Instant::now());
            self.screen.line(self.status_text());
        }
    }

    /// Handles the passing of time.
    pub(crate) fn tick(&mut self) {
        if !self.screen.is_live() {
            return;
        }
        let width = self.screen.width() - 1;
        if self.last.is_some() {
            self.screen
                .set_status_line(truncate_to_width(&self.status_text(), width));
        } else if self.started_at.elapsed() >= SHOW_AFTER {
            let seconds = self.started_at.elapsed().as_secs();
            let text = format!("{} … {seconds} s", self.label);
            let text = truncate_to_width(&text, width);
            self.screen.set_status_line(self.screen.paint().dim(text));
        }
    }

    fn status_text(&self) -> String {
        let rendered = self.last.as_ref().map(render).unwrap_or_default();
        format!("{} {rendered}", self.label)
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.screen.set_status_line(String::new());
    }
}

fn is_complete(progress: &ProgressParams) -> bool {
    let total = progress.total.map(bowline::model::Number::as_f64);
    total.is_some_and(|total| progress.progress.as_f64() >= total)
}

fn render(progress: &ProgressParams) -> String {
    let message = progress
        .message
        .as_deref()
        .map(one_line)
        .unwrap_or_default();
    let current = progress.progress.as_f64();
    let total = progress.total.map(bowline::model::Number::as_f64);
    let text = match total.filter(|total| *total > 0.0 && current.is_finite()) {
        Some(total) => {
            let fraction = (current / total).clamp(0.0, 1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it lies between nothing and the length of the bar"
            )]
            let filled = (fraction * BAR_WIDTH as f64).round() as usize;
            let bar = format!("{}{}", "=".repeat(filled), " ".repeat(BAR_WIDTH - filled));
            format!("[{bar}] {:3.0} % {message}", fraction * 100.0)
        }
        None => format!("[{}] {message}", progress.progress),
    };
    text.trim_end().to_owned()
}

/// Cuts text to a width. Characters outside ASCII may be two columns wide.
fn truncate_to_width(text: &str, width: usize) -> String {
    let mut remaining = width;
    let fits = |character: &char| {
        let columns = if character.is_ascii() { 1 } else { 2 };
        let fits = columns <= remaining;
        remaining = remaining.saturating_sub(columns);
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
            assert_eq!(render(&params), text);
        }
    }

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(truncate_to_width("abcdef", 4), "abcd");
        assert_eq!(truncate_to_width("ab漢字", 5), "ab漢");
        assert_eq!(truncate_to_width("ab漢字cd", 4), "ab漢");
    }
}

//! The findings, printed step by step as text or at the end as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    output::{Style, escape_control},
};

/// The findings so far.
pub(super) struct Report<'a> {
    cx: &'a Context,
    server: String,
    layers: &'static [&'static str],
    steps: Vec<LayerResult>,
    /// The first layer that failed.
    fault: Option<(&'static str, FailureKind, String)>,
    warnings: usize,
    /// The error of writing the output, if it was closed.
    output_error: Option<Failure>,
}

/// Nothing more can be examined.
pub(super) struct Stopped;

struct LayerResult {
    layer: &'static str,
    state: LayerState,
    detail: String,
    elapsed: Option<Duration>,
    advice: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LayerState {
    Ok,
    Warning,
    Failed,
    Skipped,
}

impl LayerState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl<'a> Report<'a> {
    pub(super) fn new(cx: &'a Context, server: &str, layers: &'static [&'static str]) -> Self {
        Self {
            cx,
            server: escape_control(server).into_owned(),
            layers,
            steps: Vec::new(),
            fault: None,
            warnings: 0,
            output_error: None,
        }
    }

    /// Returns the context of the command.
    pub(super) fn context(&self) -> &'a Context {
        self.cx
    }

    /// Reports a layer that works.
    pub(super) fn ok(
        &mut self,
        layer: &'static str,
        elapsed: impl Into<Option<Duration>>,
        detail: impl Into<String>,
    ) {
        self.add(LayerResult {
            layer,
            state: LayerState::Ok,
            detail: detail.into(),
            elapsed: elapsed.into(),
            advice: Vec::new(),
        });
    }

    /// Reports a layer that works but needs attention.
    pub(super) fn warning(
        &mut self,
        layer: &'static str,
        detail: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.warnings += 1;
        self.add(LayerResult {
            layer,
            state: LayerState::Warning,
            detail: detail.into(),
            elapsed: None,
            advice: vec![advice.into()],
        });
    }

    /// Reports a layer that fails; the layers above it cannot be checked.
    pub(super) fn failed(
        &mut self,
        layer: &'static str,
        elapsed: impl Into<Option<Duration>>,
        failure: Failure,
    ) -> Result<(), Stopped> {
        self.fault
            .get_or_insert((layer, failure.kind, failure.message.clone()));
        self.add(LayerResult {
            layer,
            state: LayerState::Failed,
            detail: failure.message,
            elapsed: elapsed.into(),
            advice: failure.hints,
        });
        Err(Stopped)
    }

    /// Reports the skipped layers and the result.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.skip_remaining();
        if let Some(error) = self.output_error {
            return Err(error);
        }
        if self.cx.json() {
            self.cx.output.json(&self.json())?;
        }
        match self.fault {
            None => self.summary(),
            Some((_, kind, why)) => {
                let why = why.lines().next().unwrap_or_default();
                let failure = Failure::new(kind, escape_control(why));
                Err(match self.server.as_str() {
                    "" => failure,
                    server => failure.with_prefix(server),
                })
            }
        }
    }

    fn skip_remaining(&mut self) {
        let last = self.steps.last().map(|step| step.layer);
        let layers = self.layers.iter().copied();
        let skipped: Vec<_> = layers.skip_while(|it| Some(*it) != last).skip(1).collect();
        if skipped.is_empty() {
            return;
        }
        let line = format!("- skipped        {}", skipped.join(", "));
        self.print(&self.cx.output.paint().dim(line));
        self.steps
            .extend(skipped.into_iter().map(|layer| LayerResult {
                layer,
                state: LayerState::Skipped,
                detail: String::new(),
                elapsed: None,
                advice: Vec::new(),
            }));
    }

    fn summary(&self) -> Result<(), Failure> {
        if self.cx.json() {
            return Ok(());
        }
        let server = &self.server;
        self.cx.output.line(match self.warnings {
            0 => format!("\nno problems found with {server}"),
            1 => format!("\n{server} works, with 1 warning"),
            warnings => format!("\n{server} works, with {warnings} warnings"),
        })
    }

    fn add(&mut self, step: LayerResult) {
        self.print(&self.format_step(&step));
        self.steps.push(step);
    }

    /// Prints a line, unless the output was closed.
    fn print(&mut self, line: &str) {
        if !self.cx.json() && self.output_error.is_none() {
            self.output_error = self.cx.output.line(line).err();
        }
    }

    fn format_step(&self, step: &LayerResult) -> String {
        let paint = self.cx.output.paint();
        let mark = match step.state {
            LayerState::Ok => paint.text(Style::Success, "✓"),
            LayerState::Warning => paint.text(Style::Warning, "!"),
            LayerState::Failed => paint.text(Style::Error, "✗"),
            LayerState::Skipped => paint.dim("-"),
        };
        let layer = format!("{:<15}", step.layer);
        let elapsed = step.elapsed.map(|elapsed| {
            let ms = elapsed.as_secs_f64() * 1000.0;
            paint.dim(format!("  {ms:.1} ms"))
        });
        let detail = escape_control(&step.detail);
        let mut lines = detail.lines();
        let (first, elapsed) = (
            lines.next().unwrap_or_default(),
            elapsed.unwrap_or_default(),
        );
        let mut output = format!("{mark} {layer}{first}{elapsed}");
        output.extend(lines.map(|line| format!("\n                 {line}")));
        for advice in &step.advice {
            let advice = escape_control(advice).replace('\n', "\n                   ");
            output.push_str(&format!("\n                 {} {advice}", paint.hint("→")));
        }
        output
    }

    fn json(&self) -> Value {
        let steps = self.steps.iter().map(|step| {
            json!({
                "layer": step.layer,
                "state": step.state.as_str(),
                "detail": step.detail,
                "ms": step.elapsed.map(|elapsed| elapsed.as_secs_f64() * 1000.0),
                "advice": step.advice,
            })
        });
        json!({
            "server": self.server,
            "ok": self.fault.is_none(),
            "fault": self.fault.as_ref().map(|(layer, _, _)| layer),
            "steps": steps.collect::<Vec<_>>(),
        })
    }
}

//! What was found, step by step, for people as it is found and for programs at
//! the end.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    output::{Style, clean},
};

/// What was found so far.
pub(super) struct Chart<'a> {
    cx: &'a Context,
    server: String,
    layers: &'static [&'static str],
    steps: Vec<Step>,
    /// The first layer that failed.
    fault: Option<(&'static str, FailureKind, String)>,
    warnings: usize,
    /// Whether nobody reads any more.
    broken: Option<Failure>,
}

/// Nothing more can be found out.
pub(super) struct Ended;

struct Step {
    layer: &'static str,
    state: State,
    detail: String,
    took: Option<Duration>,
    advice: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    Warning,
    Failed,
    Skipped,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl<'a> Chart<'a> {
    pub(super) fn new(cx: &'a Context, server: &str, layers: &'static [&'static str]) -> Self {
        Self {
            cx,
            server: clean(server).into_owned(),
            layers,
            steps: Vec::new(),
            fault: None,
            warnings: 0,
            broken: None,
        }
    }

    /// The command that examines.
    pub(super) fn context(&self) -> &'a Context {
        self.cx
    }

    /// A layer is as it should be.
    pub(super) fn good(
        &mut self,
        layer: &'static str,
        took: impl Into<Option<Duration>>,
        detail: impl Into<String>,
    ) {
        self.add(Step {
            layer,
            state: State::Good,
            detail: detail.into(),
            took: took.into(),
            advice: Vec::new(),
        });
    }

    /// A layer works, but something about it should be looked at.
    pub(super) fn warning(
        &mut self,
        layer: &'static str,
        detail: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.warnings += 1;
        self.add(Step {
            layer,
            state: State::Warning,
            detail: detail.into(),
            took: None,
            advice: vec![advice.into()],
        });
    }

    /// A layer does not work, and what is above it cannot be looked at.
    pub(super) fn failed(
        &mut self,
        layer: &'static str,
        took: impl Into<Option<Duration>>,
        failure: Failure,
    ) -> Result<(), Ended> {
        self.fault
            .get_or_insert((layer, failure.kind, failure.message.clone()));
        self.add(Step {
            layer,
            state: State::Failed,
            detail: failure.message,
            took: took.into(),
            advice: failure.hints,
        });
        Err(Ended)
    }

    /// Says what could not be looked at, and how it ends.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.skip_the_rest();
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        if self.cx.json() {
            self.cx.output.json(&self.json())?;
        }
        match self.fault {
            None => self.well(),
            Some((_, kind, why)) => {
                let why = why.lines().next().unwrap_or_default();
                let failure = Failure::new(kind, clean(why));
                Err(match self.server.as_str() {
                    "" => failure,
                    server => failure.about(server),
                })
            }
        }
    }

    fn skip_the_rest(&mut self) {
        let last = self.steps.last().map(|step| step.layer);
        let layers = self.layers.iter().copied();
        let skipped: Vec<_> = layers.skip_while(|it| Some(*it) != last).skip(1).collect();
        if skipped.is_empty() {
            return;
        }
        let line = format!("- skipped        {}", skipped.join(", "));
        self.print(&self.cx.output.paint().faint(line));
        self.steps.extend(skipped.into_iter().map(|layer| Step {
            layer,
            state: State::Skipped,
            detail: String::new(),
            took: None,
            advice: Vec::new(),
        }));
    }

    fn well(&self) -> Result<(), Failure> {
        if self.cx.json() {
            return Ok(());
        }
        let server = &self.server;
        self.cx.output.line(match self.warnings {
            0 => format!("\n{server} is well"),
            1 => format!("\n{server} works, with one thing to look at"),
            warnings => format!("\n{server} works, with {warnings} things to look at"),
        })
    }

    fn add(&mut self, step: Step) {
        self.print(&self.show(&step));
        self.steps.push(step);
    }

    /// Shows a line, as long as somebody reads.
    fn print(&mut self, line: &str) {
        if !self.cx.json() && self.broken.is_none() {
            self.broken = self.cx.output.line(line).err();
        }
    }

    fn show(&self, step: &Step) -> String {
        let paint = self.cx.output.paint();
        let mark = match step.state {
            State::Good => paint.text(Style::Good, "✓"),
            State::Warning => paint.text(Style::Warning, "!"),
            State::Failed => paint.text(Style::Bad, "✗"),
            State::Skipped => paint.faint("-"),
        };
        let layer = format!("{:<15}", step.layer);
        let took = step.took.map(|took| {
            let ms = took.as_secs_f64() * 1000.0;
            paint.faint(format!("  {ms:.1} ms"))
        });
        let detail = clean(&step.detail);
        let mut lines = detail.lines();
        let (first, took) = (lines.next().unwrap_or_default(), took.unwrap_or_default());
        let mut shown = format!("{mark} {layer}{first}{took}");
        shown.extend(lines.map(|line| format!("\n                 {line}")));
        for advice in &step.advice {
            let advice = clean(advice).replace('\n', "\n                   ");
            shown.push_str(&format!("\n                 {} {advice}", paint.hint("→")));
        }
        shown
    }

    fn json(&self) -> Value {
        let steps = self.steps.iter().map(|step| {
            json!({
                "layer": step.layer,
                "state": step.state.word(),
                "detail": step.detail,
                "ms": step.took.map(|took| took.as_secs_f64() * 1000.0),
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

//! A recording that is to be played: served, checked, or summed up.

use std::path::Path;

use bowline::{proto::revision::Revision, transport::Transport};

use super::{
    check::{self, Checked, Findings, Rules},
    exchange::{self, Exchange},
    message::Answer,
    play_http, play_stdio,
    player::Player,
    recording::Recording,
};
use crate::{context::Context, failure::Failure};

/// A recording, sorted.
pub(crate) struct Replayable {
    /// What was recorded.
    pub(crate) server: String,
    /// The revision that was spoken.
    pub(crate) revision: Option<String>,
    exchanges: Vec<Exchange>,
}

/// A request of a recording, for people.
pub(crate) struct Line {
    /// What it is about: `tools/call echo`.
    pub(crate) label: String,
    /// How it ended.
    pub(crate) ended: &'static str,
}

impl Replayable {
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let recording = Recording::load(path)?;
        let exchanges = exchange::sort(&recording);
        if exchanges.is_empty() {
            let path = path.display();
            return Err(Failure::usage(format!("{path}: nothing was asked in it")));
        }
        Ok(Self {
            server: recording.server,
            revision: recording.revision,
            exchanges,
        })
    }

    /// Answers as the server did, to whoever started this program.
    pub(crate) async fn serve_stdio(self, cx: &Context) -> Result<(), Failure> {
        play_stdio::serve(cx, Player::new(self.exchanges, self.revision)).await
    }

    /// Answers as the server did, over HTTP.
    pub(crate) async fn serve_http(self, cx: &Context, address: &str) -> Result<(), Failure> {
        play_http::serve(cx, Player::new(self.exchanges, self.revision), address).await
    }

    /// Makes the requests again, and compares.
    pub(crate) async fn check(
        &self,
        transport: Box<dyn Transport>,
        rules: &Rules,
        tell: impl FnMut(&Checked) -> Result<(), Failure>,
    ) -> Result<Findings, Failure> {
        check::check(&self.exchanges, transport, rules, tell).await
    }

    /// The revision, if it is one that is known here.
    pub(crate) fn known_revision(&self) -> Option<Revision> {
        self.revision.as_deref().and_then(Revision::parse)
    }

    /// What was asked, and how it ended.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let line = |exchange: &Exchange| Line {
            label: exchange.request.label(),
            ended: match &exchange.answer {
                Some(Answer::Error(_)) => "error",
                None if exchange.listens() => "stream",
                None => "no answer",
                Some(answer) => match answer.value() {
                    value if value["isError"] == true => "failed",
                    value if value["resultType"] == "input_required" => "questions",
                    _ => "ok",
                },
            },
        };
        self.exchanges.iter().map(line).collect()
    }
}

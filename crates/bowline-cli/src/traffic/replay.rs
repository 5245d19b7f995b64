//! A recording to be served, checked, or summarized.

use std::path::Path;

use bowline::{Revision, transport::Transport};

use super::{
    check::{self, CheckOptions, CheckedRequest, Findings},
    exchange::{self, Exchange},
    message::ResponseBody,
    recorded_server::RecordedServer,
    recording::Recording,
    serve_http, serve_stdio,
};
use crate::{context::Context, failure::Failure};

/// A recording, grouped into exchanges.
pub(crate) struct LoadedRecording {
    /// The recorded server.
    pub(crate) server: String,
    /// The revision of the session.
    pub(crate) revision: Option<String>,
    exchanges: Vec<Exchange>,
}

/// Summary of a recorded request.
pub(crate) struct RequestSummary {
    /// A short label: `tools/call echo`.
    pub(crate) label: String,
    /// How it ended.
    pub(crate) outcome: &'static str,
}

impl LoadedRecording {
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let recording = Recording::load(path)?;
        let exchanges = exchange::group_exchanges(&recording);
        if exchanges.is_empty() {
            let path = path.display();
            return Err(Failure::usage(format!(
                "{path}: the recording has no requests"
            )));
        }
        Ok(Self {
            server: recording.server,
            revision: recording.revision,
            exchanges,
        })
    }

    /// Responds as the recorded server did, over standard input and output.
    pub(crate) async fn serve_stdio(self, cx: &Context) -> Result<(), Failure> {
        serve_stdio::serve(cx, RecordedServer::new(self.exchanges, self.revision)).await
    }

    /// Responds as the recorded server did, over HTTP.
    pub(crate) async fn serve_http(self, cx: &Context, address: &str) -> Result<(), Failure> {
        serve_http::serve(
            cx,
            RecordedServer::new(self.exchanges, self.revision),
            address,
        )
        .await
    }

    /// Repeats the requests and compares the results.
    pub(crate) async fn check(
        &self,
        transport: Box<dyn Transport>,
        options: &CheckOptions,
        on_checked: impl FnMut(&CheckedRequest) -> Result<(), Failure>,
    ) -> Result<Findings, Failure> {
        check::check(&self.exchanges, transport, options, on_checked).await
    }

    /// Returns the revision, if it is supported.
    pub(crate) fn known_revision(&self) -> Option<Revision> {
        self.revision.as_deref().and_then(Revision::parse)
    }

    /// Summarizes the requests and how they ended.
    pub(crate) fn request_summaries(&self) -> Vec<RequestSummary> {
        let line = |exchange: &Exchange| RequestSummary {
            label: exchange.request.label(),
            outcome: match &exchange.response {
                Some(ResponseBody::Error(_)) => "error",
                None if exchange.is_subscription() => "stream",
                None => "no answer",
                Some(body) => match body.value() {
                    value if value["isError"] == true => "failed",
                    value if value["resultType"] == "input_required" => "questions",
                    _ => "ok",
                },
            },
        };
        self.exchanges.iter().map(line).collect()
    }
}

//! Observing, recording and replaying messages.
//!
//! - `observed` is a transport that reports every frame; `trace` prints them,
//!   `recorder` writes them to a file, in the format of `recording`.
//! - `exchange` groups a recording into requests and responses.
//!   `recorded_server` responds from it, through `serve_stdio` or `serve_http`;
//!   `check` repeats the requests on a `live` link and compares, with
//!   `difference`. `replay` is what the command uses.
//! - `feed` prints notifications, one line each.

mod check;
mod difference;
mod exchange;
mod feed;
mod live;
mod message;
mod observed;
mod recorded_server;
mod recorder;
mod recording;
mod replay;
mod serve_http;
mod serve_stdio;
mod trace;
mod utc_time;

use std::{
    io::{self, IsTerminal as _},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use bowline::{
    Revision,
    transport::{ConnectionError, Transport},
};
use bytes::Bytes;

pub(crate) use self::{
    check::{CheckOptions, CheckedRequest, Findings, Verdict},
    feed::{FollowOptions, follow},
    observed::{ObservedTransport, TrafficObserver},
    recording::Recording,
    replay::LoadedRecording,
};
use self::{recorder::Recorder, trace::Trace};
use crate::{args::Globals, failure::Failure};

/// The observers of this command's frames. Clones share state.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    start: Instant,
    links: AtomicU32,
    trace: OnceLock<Trace>,
    recorder: OnceLock<Recorder>,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            shared: Arc::new(Shared {
                start: Instant::now(),
                links: AtomicU32::new(0),
                trace: OnceLock::new(),
                recorder: OnceLock::new(),
            }),
        }
    }
}

/// An event on a link.
pub(crate) enum TrafficEvent<'a> {
    /// It is connected to this server.
    Up {
        server: &'a str,
        /// How long that took.
        dial_time: Duration,
    },
    Sent(&'a Bytes),
    Received(&'a Bytes),
    /// This revision is used from here on.
    RevisionAgreed(Revision),
    /// A frame was rejected or not delivered.
    Refused {
        id: Option<u64>,
        reason: String,
    },
    /// The response to this request is no longer awaited.
    Cancelled(u64),
    /// A frame exceeded the limit and was discarded.
    OversizedFrame(usize),
    /// It failed, or was never established.
    Down(&'a ConnectionError),
    /// It was closed by us.
    Closed,
}

impl TrafficObserver for Traffic {
    fn observe(&self, link: u32, event: &TrafficEvent<'_>) {
        let elapsed = self.shared.start.elapsed();
        if let Some(trace) = self.shared.trace.get() {
            trace.print(elapsed, link, event);
        }
        if let Some(recorder) = self.shared.recorder.get() {
            recorder.record(elapsed, link, event);
        }
    }

    fn next_link(&self) -> u32 {
        self.shared.links.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Traffic {
    /// Starts observing as the options require. Returns whether there is
    /// anything to observe.
    fn start_observing(&self, globals: &Globals, server: &str) -> Result<bool, Failure> {
        if globals.trace {
            let color = globals.color.is_enabled(io::stderr().is_terminal());
            self.shared.trace.get_or_init(|| Trace::new(color));
        }
        if let (Some(path), None) = (&globals.record, self.shared.recorder.get()) {
            let recorder = Recorder::create(path, server)?;
            // The command is single-threaded, so it was not set in the
            // meantime.
            let _ = self.shared.recorder.set(recorder);
        }
        Ok(globals.trace || globals.record.is_some())
    }
}

/// Wraps a transport to be observed, as the options require.
pub(crate) fn observe_transport(
    transport: Box<dyn Transport>,
    globals: &Globals,
) -> Result<Box<dyn Transport>, Failure> {
    let server = redact(&transport.describe());
    if !globals.traffic.start_observing(globals, &server)? {
        return Ok(transport);
    }
    Ok(Box::new(ObservedTransport::new(
        transport,
        globals.traffic.clone(),
    )))
}

/// Describes a link without the parts that may hold keys: the arguments of a
/// command, the user info and query of a URL.
fn redact(description: &str) -> String {
    let Some((scheme, rest)) = description.split_once("://") else {
        return match description.split_once(' ') {
            Some((command, _)) if description != "in this process" => format!("{command} …"),
            _ => description.to_owned(),
        };
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn keys_are_not_written_down() {
        let cases = [
            ("in this process", "in this process"),
            ("uvx", "uvx"),
            ("npx -y server --key s3cret", "npx …"),
            ("https://a.test/mcp", "https://a.test/mcp"),
            ("https://me:1@a.test/mcp?key=1#2", "https://a.test/mcp"),
        ];
        for (description, expected) in cases {
            assert_eq!(redact(description), expected);
        }
    }
}

//! What goes over the wire: shown, written down, played back.
//!
//! - `tap` is a transport that lets every frame be seen; `trace` shows them,
//!   `recorder` writes them down, in the format of `recording`.
//! - `exchange` sorts a recording into requests and what came of them. `player`
//!   answers from it, over `stdio` or `http`; `check` makes the requests again
//!   and compares, with `difference`.
//! - `news` is what a server tells unasked, a line each.

mod check;
mod difference;
mod exchange;
mod live;
mod message;
mod news;
mod play_http;
mod play_stdio;
mod player;
mod recorder;
mod recording;
mod replay;
mod tap;
mod time;
mod trace;

use std::{
    io::{self, IsTerminal as _},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use bowline::{
    proto::revision::Revision,
    transport::{Cause, Transport},
};
use bytes::Bytes;

pub(crate) use self::{
    check::{Checked, Findings, Rules, Verdict},
    news::{Follow, follow},
    replay::Replayable,
    tap::{Tapped, Watcher},
};
use self::{recorder::Recorder, trace::Trace};
use crate::{args::Globals, failure::Failure};

/// Who sees the frames of this command. Clones are the same.
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

/// Something that happened to a link.
pub(crate) enum Happening<'a> {
    /// It is there, and leads to this server.
    Up {
        server: &'a str,
        /// How long that took.
        took: Duration,
    },
    Sent(&'a Bytes),
    Received(&'a Bytes),
    /// From here on this revision is spoken.
    Settled(Revision),
    /// A frame of ours was not taken, or not delivered.
    Refused {
        id: Option<u64>,
        why: String,
    },
    /// Nobody waits for the answer to this request any more.
    GivenUp(u64),
    /// A frame was too large, and was abandoned.
    Oversize(usize),
    /// It is dead, or never lived.
    Down(&'a Cause),
    /// It was closed from here.
    Closed,
}

impl Watcher for Traffic {
    fn see(&self, link: u32, happening: &Happening<'_>) {
        let after = self.shared.start.elapsed();
        if let Some(trace) = self.shared.trace.get() {
            trace.see(after, link, happening);
        }
        if let Some(recorder) = self.shared.recorder.get() {
            recorder.see(after, link, happening);
        }
    }

    fn number(&self) -> u32 {
        self.shared.links.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Traffic {
    /// Begins to watch as the options say. Says whether there is anything to
    /// watch for.
    fn begin(&self, globals: &Globals, server: &str) -> Result<bool, Failure> {
        if globals.trace {
            let color = globals.color.wanted(io::stderr().is_terminal());
            self.shared.trace.get_or_init(|| Trace::new(color));
        }
        if let (Some(path), None) = (&globals.record, self.shared.recorder.get()) {
            let recorder = Recorder::create(path, server)?;
            // A command has one thread, so that nobody was faster.
            let _ = self.shared.recorder.set(recorder);
        }
        Ok(globals.trace || globals.record.is_some())
    }
}

/// The same way, watched as the options say.
pub(crate) fn watch(
    transport: Box<dyn Transport>,
    globals: &Globals,
) -> Result<Box<dyn Transport>, Failure> {
    let server = without_secrets(&transport.describe());
    if !globals.traffic.begin(globals, &server)? {
        return Ok(transport);
    }
    Ok(Box::new(Tapped::new(transport, globals.traffic.clone())))
}

/// What a link leads to, without the parts in which people put keys: of a
/// command the arguments, of an address the user and the query.
fn without_secrets(described: &str) -> String {
    let Some((scheme, rest)) = described.split_once("://") else {
        return match described.split_once(' ') {
            Some((command, _)) if described != "in this process" => format!("{command} …"),
            _ => described.to_owned(),
        };
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn keys_are_not_written_down() {
        let cases = [
            ("in this process", "in this process"),
            ("uvx", "uvx"),
            ("npx -y server --key s3cret", "npx …"),
            ("https://a.test/mcp", "https://a.test/mcp"),
            ("https://me:1@a.test/mcp?key=1#2", "https://a.test/mcp"),
        ];
        for (described, shown) in cases {
            assert_eq!(without_secrets(described), shown);
        }
    }
}

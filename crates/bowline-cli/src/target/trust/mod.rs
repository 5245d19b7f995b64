//! Trust in project servers.
//!
//! The author of a project wrote the commands and URLs in its files. They are
//! used only after the user has seen and trusted them, and only as long as the
//! entry is unchanged. `trust_file` stores what was trusted, `summary` is what
//! the user sees before deciding, and `line` puts each item on one line.

mod line;
mod summary;
mod trust_file;

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use bowline::config::ConfigScope;

pub(crate) use self::{
    summary::{detail_lines, endpoint_summary, summary},
    trust_file::{Digest, TrustFile, TrustedServer},
};
use super::{ConfiguredServer, Target, shell_quoted};
use crate::{
    args::Globals,
    context::Context,
    failure::Failure,
    locks,
    output::{escape_control, short_path},
};

/// The servers trusted in this run and before. Clones share state.
#[derive(Clone, Default)]
pub(crate) struct RunTrust(Arc<Mutex<TrustCache>>);

#[derive(Default)]
struct TrustCache {
    digests: HashSet<Digest>,
    /// The trust file, which is read once: a project may have a thousand
    /// servers.
    trust_file: Option<TrustFile>,
}

impl RunTrust {
    fn add(&self, digest: Digest) {
        self.cache().digests.insert(digest);
    }

    fn trust_state(&self, found: &ConfiguredServer) -> Result<TrustState, Failure> {
        let digest = Digest::new(found);
        let mut cache = self.cache();
        if cache.digests.contains(&digest) {
            return Ok(TrustState::Trusted);
        }
        let stored = match cache.trust_file.take() {
            Some(stored) => stored,
            None => TrustFile::read()?,
        };
        Ok(cache.trust_file.insert(stored).trust_state(found, &digest))
    }

    fn cache(&self) -> MutexGuard<'_, TrustCache> {
        locks::lock(&self.0)
    }
}

impl fmt::Debug for RunTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Allowed")
    }
}

/// Whether a project's server is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrustState {
    /// It may be used.
    Trusted,
    /// It was trusted, but its entry has changed since.
    Changed,
    /// The user has not decided yet.
    Unknown,
}

/// Returns whether a server comes from a project. A file named on the command
/// line belongs to the user.
pub(crate) fn is_project_server(found: &ConfiguredServer) -> bool {
    found.scope == Some(ConfigScope::Project)
}

/// Returns the trust state of a server. The user's own servers are always
/// trusted.
pub(crate) fn trust_state(
    globals: &Globals,
    found: &ConfiguredServer,
) -> Result<TrustState, Failure> {
    if !is_project_server(found) || globals.trust_project {
        return Ok(TrustState::Trusted);
    }
    globals.trusted.trust_state(found)
}

/// Refuses a target that is not trusted. Called before every connection, even
/// if nobody was asked.
pub(super) fn check_trusted(globals: &Globals, target: &Target) -> Result<(), Failure> {
    let Target::Configured(found) = target else {
        return Ok(());
    };
    match trust_state(globals, found)? {
        TrustState::Trusted => Ok(()),
        state => Err(untrusted_failure(found, state)),
    }
}

/// Asks the user whether a project's server may be used, if that is undecided
/// and the command is interactive.
pub(crate) async fn ensure_trusted(cx: &Context, target: &Target) -> Result<(), Failure> {
    let Target::Configured(found) = target else {
        return Ok(());
    };
    let state = trust_state(&cx.globals, found)?;
    if state == TrustState::Trusted {
        return Ok(());
    }
    if !confirm(
        cx,
        found,
        state,
        "Trust it, as long as its entry does not change?",
    )
    .await?
    {
        return Err(untrusted_failure(found, state));
    }
    store_trust(cx, found)
}

/// Shows what would be used and asks. Fails without a terminal, because that is
/// not an answer.
pub(crate) async fn confirm(
    cx: &Context,
    found: &ConfiguredServer,
    state: TrustState,
    question: &str,
) -> Result<bool, Failure> {
    let Some(terminal) = cx.responder.terminal() else {
        return Err(untrusted_failure(found, state));
    };
    let _pause = cx.globals.clock.pause();
    for line in detail_lines(found, state) {
        terminal.print(line);
    }
    let answer = terminal.ask(format!("{question} [y/N] ")).await;
    let answer = answer.unwrap_or_default();
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Stores that a server is trusted.
pub(crate) fn store_trust(cx: &Context, found: &ConfiguredServer) -> Result<(), Failure> {
    let digest = Digest::new(found);
    TrustFile::update(|trusted| trusted.add(found, &digest))?;
    cx.globals.trusted.add(digest);
    Ok(())
}

fn untrusted_failure(found: &ConfiguredServer, state: TrustState) -> Failure {
    let name = escape_control(&found.entry.name);
    let file = short_path(&found.path);
    let message = match state {
        TrustState::Changed => {
            format!(
                "project server `{name}` must be trusted again: {file} has changed since you \
                 trusted it"
            )
        }
        _ => format!("project server `{name}` from {file} is not trusted"),
    };
    Failure::usage(message)
        .hint(summary(found))
        // Users paste this into shells, and the name is untrusted.
        .hint(format!(
            "review and trust it with `bowline config trust {}`",
            shell_quoted(&found.entry.name)
        ))
        .hint("use --trust-project to use it for this command only, without asking")
}

//! Whether what a project brings may be used.
//!
//! Whoever wrote a project wrote the commands and the addresses in its files.
//! They are used once a person has seen and allowed them, and only as long as
//! the file says the same. `remembered` is what was allowed before, `shown`
//! what a person sees before they decide, each thing on `one_line`.

mod line;
mod summary;
mod trust_file;

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
    output::{escape_control, short_path},
};

/// What was allowed, in this run and before. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct RunTrust(Arc<Mutex<TrustCache>>);

#[derive(Default)]
struct TrustCache {
    digests: HashSet<Digest>,
    /// What was allowed before, which is read once: a project may have a
    /// thousand servers.
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RunTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Allowed")
    }
}

/// How a server of a project stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrustState {
    /// It may be used.
    Trusted,
    /// It was allowed, and its entry has changed since.
    Changed,
    /// Nobody has been asked.
    Unknown,
}

/// Whether a server came with a project. A file that was named on the command
/// line is its user's.
pub(crate) fn is_project_server(found: &ConfiguredServer) -> bool {
    found.scope == Some(ConfigScope::Project)
}

/// How a server stands: those of the user's own may always be used.
pub(crate) fn trust_state(
    globals: &Globals,
    found: &ConfiguredServer,
) -> Result<TrustState, Failure> {
    if !is_project_server(found) || globals.trust_project {
        return Ok(TrustState::Trusted);
    }
    globals.trusted.trust_state(found)
}

/// Lets a target pass that may be used. This stands before every way to a
/// server, also where nobody was asked.
pub(super) fn check_trusted(globals: &Globals, target: &Target) -> Result<(), Failure> {
    let Target::Configured(found) = target else {
        return Ok(());
    };
    match trust_state(globals, found)? {
        TrustState::Trusted => Ok(()),
        state => Err(untrusted_failure(found, state)),
    }
}

/// Asks the person whether a server of a project may be used, if that is not
/// known and there is a person.
pub(crate) async fn ensure_trusted(cx: &Context, target: &Target) -> Result<(), Failure> {
    let Target::Configured(found) = target else {
        return Ok(());
    };
    let state = trust_state(&cx.globals, found)?;
    if state == TrustState::Trusted {
        return Ok(());
    }
    if !confirm(cx, found, state, "Trust it, as long as the file says this?").await? {
        return Err(untrusted_failure(found, state));
    }
    store_trust(cx, found)
}

/// Shows what would be used, and asks. Nobody to ask is a failure, since that
/// is no answer.
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

/// Remembers that a server may be used.
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
            format!("`{name}` comes with a project, and {file} has changed since you trusted it")
        }
        _ => format!("`{name}` comes with a project, by {file}, and you have not trusted it"),
    };
    Failure::usage(message)
        .hint(summary(found))
        // People copy this into shells, and the name is somebody else's.
        .hint(format!(
            "`bowline config trust {}` shows all of it, and asks you",
            shell_quoted(&found.entry.name)
        ))
        .hint("--trust-project uses it for this command only, without asking")
}

//! Whether what a project brings may be used.
//!
//! Whoever wrote a project wrote the commands and the addresses in its files.
//! They are used once a person has seen and allowed them, and only as long as
//! the file says the same. `remembered` is what was allowed before, `shown`
//! what a person sees before they decide, each thing on `one_line`.

mod one_line;
mod remembered;
mod shown;

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bowline::config::Scope;

pub(crate) use self::{
    remembered::{Digest, Remembered, Trusted},
    shown::{lines, summary, way},
};
use super::{Found, Target, quoted};
use crate::{
    args::Globals,
    context::Context,
    failure::Failure,
    output::{clean, short},
};

/// What was allowed, in this run and before. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Allowed(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    digests: HashSet<Digest>,
    /// What was allowed before, which is read once: a project may have a
    /// thousand servers.
    before: Option<Remembered>,
}

impl Allowed {
    fn add(&self, digest: Digest) {
        self.known().digests.insert(digest);
    }

    fn standing(&self, found: &Found) -> Result<Standing, Failure> {
        let digest = Digest::of(found);
        let mut known = self.known();
        if known.digests.contains(&digest) {
            return Ok(Standing::Trusted);
        }
        let before = match known.before.take() {
            Some(before) => before,
            None => Remembered::read()?,
        };
        Ok(known.before.insert(before).standing(found, &digest))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Allowed")
    }
}

/// How a server of a project stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It may be used.
    Trusted,
    /// It was allowed, and its entry has changed since.
    Changed,
    /// Nobody has been asked.
    Unknown,
}

/// Whether a server came with a project. A file that was named on the command
/// line is its user's.
pub(crate) fn is_of_project(found: &Found) -> bool {
    found.scope == Some(Scope::Project)
}

/// How a server stands: those of the user's own may always be used.
pub(crate) fn standing(globals: &Globals, found: &Found) -> Result<Standing, Failure> {
    if !is_of_project(found) || globals.trust_project {
        return Ok(Standing::Trusted);
    }
    globals.allowed.standing(found)
}

/// Lets a target pass that may be used. This stands before every way to a
/// server, also where nobody was asked.
pub(super) fn check(globals: &Globals, target: &Target) -> Result<(), Failure> {
    let Target::Configured(found) = target else {
        return Ok(());
    };
    match standing(globals, found)? {
        Standing::Trusted => Ok(()),
        standing => Err(refused(found, standing)),
    }
}

/// Asks the person whether a server of a project may be used, if that is not
/// known and there is a person.
pub(crate) async fn admit(cx: &Context, target: &Target) -> Result<(), Failure> {
    let Target::Configured(found) = target else {
        return Ok(());
    };
    let standing = standing(&cx.globals, found)?;
    if standing == Standing::Trusted {
        return Ok(());
    }
    if !ask(
        cx,
        found,
        standing,
        "Trust it, as long as the file says this?",
    )
    .await?
    {
        return Err(refused(found, standing));
    }
    remember(cx, found)
}

/// Shows what would be used, and asks. Nobody to ask is a failure, since that
/// is no answer.
pub(crate) async fn ask(
    cx: &Context,
    found: &Found,
    standing: Standing,
    question: &str,
) -> Result<bool, Failure> {
    let Some(terminal) = cx.talk.terminal() else {
        return Err(refused(found, standing));
    };
    let _pause = cx.globals.patience.pause();
    for line in lines(found, standing) {
        terminal.show(line);
    }
    let answer = terminal.ask(format!("{question} [y/N] ")).await;
    let answer = answer.unwrap_or_default();
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Remembers that a server may be used.
pub(crate) fn remember(cx: &Context, found: &Found) -> Result<(), Failure> {
    let digest = Digest::of(found);
    Remembered::change(|trusted| trusted.add(found, &digest))?;
    cx.globals.allowed.add(digest);
    Ok(())
}

fn refused(found: &Found, standing: Standing) -> Failure {
    let name = clean(&found.entry.name);
    let file = short(&found.path);
    let message = match standing {
        Standing::Changed => {
            format!("`{name}` comes with a project, and {file} has changed since you trusted it")
        }
        _ => format!("`{name}` comes with a project, by {file}, and you have not trusted it"),
    };
    Failure::usage(message)
        .hint(summary(found))
        // People copy this into shells, and the name is somebody else's.
        .hint(format!(
            "`bowline config trust {}` shows all of it, and asks you",
            quoted(&found.entry.name)
        ))
        .hint("--trust-project uses it for this command only, without asking")
}

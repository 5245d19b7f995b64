//! Which servers are used without being named.
//!
//! Whoever wrote a project wrote the commands in its files. They are run when
//! their user names them, or says that all of them may run; not because
//! somebody looked around in a folder that was downloaded a minute ago.

use bowline::config::Scope;

use crate::{
    context::Context,
    failure::Failure,
    target::{Found, Servers, Target},
};

/// The servers that were chosen.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) targets: Vec<Target>,
    /// The names of those that come with a project, and were left out.
    pub(crate) left_out: Vec<String>,
}

/// Those that were named; else all that are configured; else the one that is
/// built in.
pub(crate) fn choose(cx: &Context, names: &[String], trust: bool) -> Result<Choice, Failure> {
    if !names.is_empty() {
        return Ok(Choice {
            targets: Target::named(names, cx)?,
            left_out: Vec::new(),
        });
    }
    let servers = Servers::find(&cx.globals)?;
    let mut choice = Choice::default();
    for found in servers.effective() {
        if trust || !is_of_project(found) {
            let target = Target::Configured(Box::new(found.clone()));
            choice.targets.push(target);
        } else {
            choice.left_out.push(found.entry.name.clone());
        }
    }
    if choice.targets.is_empty() && choice.left_out.is_empty() {
        choice.targets.push(Target::Demo);
    }
    Ok(choice)
}

/// Whether a server came with a project. A file that was named on the command
/// line is its user's.
pub(crate) fn is_of_project(found: &Found) -> bool {
    found.scope == Some(Scope::Project)
}

impl Choice {
    /// Says who was left out, and how to change that.
    pub(crate) fn remark(&self, cx: &Context) {
        if self.left_out.is_empty() {
            return;
        }
        let names = self.left_out.join(", ");
        cx.output.remark(format!(
            "left out, since their commands come with a project: {names}\n\
             (name them, or let all of them run with --trust-project)"
        ));
    }
}

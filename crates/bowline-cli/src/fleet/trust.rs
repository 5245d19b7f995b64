//! Which servers are used without being named: the user's own, and what they
//! have allowed of what projects bring.

use crate::{
    context::Context,
    failure::Failure,
    output::clean,
    target::{Servers, Target, trust},
};

/// The servers that were chosen.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) targets: Vec<Target>,
    /// The names of those that come with a project, and were left out.
    pub(crate) left_out: Vec<String>,
    /// Whether there are entries that cannot be used as they are written.
    pub(crate) has_broken: bool,
}

/// Those that were named; else all that are configured; else the one that is
/// built in.
pub(crate) fn choose(cx: &Context, names: &[String]) -> Result<Choice, Failure> {
    if !names.is_empty() {
        return Ok(Choice {
            targets: Target::named(names, cx)?,
            ..Choice::default()
        });
    }
    let servers = Servers::find(&cx.globals)?;
    servers.warn(&cx.output, true);
    let mut choice = Choice {
        has_broken: servers.has_broken_entries(),
        ..Choice::default()
    };
    for found in servers.effective() {
        if trust::standing(&cx.globals, found)? == trust::Standing::Trusted {
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

impl Choice {
    /// Says who was left out, and how to change that.
    pub(crate) fn remark(&self, cx: &Context) {
        if self.left_out.is_empty() {
            return;
        }
        let names = clean(&self.left_out.join(", ")).into_owned();
        cx.output.remark(format!(
            "left out, since they come with a project and you have not trusted them: {names}\n\
             (`bowline config trust NAME` shows what they are and asks you; --trust-project \
             uses them for this command only)"
        ));
    }
}

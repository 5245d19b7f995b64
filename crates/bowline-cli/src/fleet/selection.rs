//! Which servers are used without being named: the user's own, and what they
//! have allowed of what projects bring.

use crate::{
    context::Context,
    failure::Failure,
    output::escape_control,
    target::{Servers, Target, trust},
};

/// The servers that were chosen.
#[derive(Debug, Default)]
pub(crate) struct SelectedServers {
    pub(crate) targets: Vec<Target>,
    /// The names of those that come with a project, and were left out.
    pub(crate) untrusted: Vec<String>,
    /// Whether there are entries that cannot be used as they are written.
    pub(crate) has_broken_entries: bool,
}

/// Those that were named; else all that are configured; else the one that is
/// built in.
pub(crate) fn select(cx: &Context, names: &[String]) -> Result<SelectedServers, Failure> {
    if !names.is_empty() {
        return Ok(SelectedServers {
            targets: Target::resolve_all(names, cx)?,
            ..SelectedServers::default()
        });
    }
    let servers = Servers::load(&cx.globals)?;
    servers.print_warnings(&cx.output, true);
    let mut selected = SelectedServers {
        has_broken_entries: servers.has_broken_entries(),
        ..SelectedServers::default()
    };
    for found in servers.effective() {
        if trust::trust_state(&cx.globals, found)? == trust::TrustState::Trusted {
            let target = Target::Configured(Box::new(found.clone()));
            selected.targets.push(target);
        } else {
            selected.untrusted.push(found.entry.name.clone());
        }
    }
    if selected.targets.is_empty() && selected.untrusted.is_empty() {
        selected.targets.push(Target::Demo);
    }
    Ok(selected)
}

impl SelectedServers {
    /// Says who was left out, and how to change that.
    pub(crate) fn warn_untrusted(&self, cx: &Context) {
        if self.untrusted.is_empty() {
            return;
        }
        let names = escape_control(&self.untrusted.join(", ")).into_owned();
        cx.output.note(format!(
            "left out, since they come with a project and you have not trusted them: {names}\n\
             (`bowline config trust NAME` shows what they are and asks you; --trust-project \
             uses them for this command only)"
        ));
    }
}

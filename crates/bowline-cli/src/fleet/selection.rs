//! Selecting servers for commands that name none: the user's own, and trusted
//! project servers.

use crate::{
    context::Context,
    failure::Failure,
    output::escape_control,
    target::{Servers, Target, trust},
};

/// The selected servers.
#[derive(Debug, Default)]
pub(crate) struct SelectedServers {
    pub(crate) targets: Vec<Target>,
    /// Names of project servers that were left out because they are not
    /// trusted.
    pub(crate) untrusted: Vec<String>,
    /// Whether there are invalid entries.
    pub(crate) has_broken_entries: bool,
}

/// Selects the named servers; without names, all configured servers; if there
/// are none, the built-in one.
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
    /// Warns about the servers that were left out, and how to include them.
    pub(crate) fn warn_untrusted(&self, cx: &Context) {
        if self.untrusted.is_empty() {
            return;
        }
        let names = escape_control(&self.untrusted.join(", ")).into_owned();
        cx.output.note(format!(
            "skipped project servers that are not trusted: {names}\n(review them with `bowline \
             config trust NAME`, or use --trust-project for this command only)"
        ));
    }
}

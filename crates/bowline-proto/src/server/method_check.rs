//! Which methods are available for a revision and a server.

use super::{Config, errors};
use crate::{
    jsonrpc::ErrorObject,
    model::{Side, method, task},
    revision::Rules,
};

/// Accepts a request if the revision has its method and the server declared the
/// required capability, or if the host listed it as an extension method.
pub(super) fn check_method(config: &Config, rules: &Rules, name: &str) -> Result<(), ErrorObject> {
    let known = rules.allows(name, Side::Client) && is_declared(config, rules, name);
    if known || config.is_extension_method(name) && !is_protocol_request(name) {
        return Ok(());
    }
    Err(errors::unknown_method(name))
}

/// Returns whether a notification from the client may be passed to the host. A
/// request without an id is not a notification. The revision is known only
/// within a session; outside, only extension methods are passed on.
pub(super) fn accepts_notification(config: &Config, rules: Option<&Rules>, name: &str) -> bool {
    let known = rules.is_some_and(|rules| rules.allows(name, Side::Client));
    (known || config.is_extension_method(name)) && !is_protocol_request(name)
}

/// The host declares capabilities for all revisions at once, so a declared
/// capability is required even where the revision does not declare it.
fn is_declared(config: &Config, rules: &Rules, name: &str) -> bool {
    let Some(info) = method::info(name) else {
        return false;
    };
    let declared = &config.capabilities;
    match (task_capability(name), info.capability) {
        (Some(path), _) if rules.features.core_tasks => declared.has(path),
        (Some(_), _) => declared.has_extension(task::EXTENSION_ID),
        (None, Some(path)) => declared.has(path),
        (None, None) => true,
    }
}

/// Returns the capability for a method about tasks, which either side may run for the
/// other. Tasks need a capability in one era and an extension in the other.
pub(super) fn task_capability(name: &str) -> Option<&'static str> {
    match name {
        method::TASKS_GET | method::TASKS_RESULT | method::TASKS_UPDATE => Some("tasks"),
        method::TASKS_LIST => Some("tasks.list"),
        method::TASKS_CANCEL => Some("tasks.cancel"),
        _ => None,
    }
}

pub(super) fn is_task_method(name: &str) -> bool {
    task_capability(name).is_some()
}

/// Returns whether this is a request of the protocol; the protocol's rules
/// apply to it even if the host lists it.
fn is_protocol_request(name: &str) -> bool {
    method::info(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Extra, ServerTasksCapability, ToolsCapability},
        revision::Revision,
    };

    fn allows(config: &Config, revision: Revision, name: &str) -> bool {
        check_method(config, revision.rules(), name).is_ok()
    }

    #[test]
    fn undeclared_methods_do_not_exist() {
        let mut config = Config::new("x", "1");
        assert!(!allows(&config, Revision::LATEST, "tools/list"));
        config.capabilities.tools = Some(ToolsCapability::default());
        assert!(allows(&config, Revision::LATEST, "tools/list"));
        assert!(!allows(&config, Revision::LATEST, "prompts/list"));
    }

    #[test]
    fn completion_must_be_offered_even_where_it_is_not_declared() {
        let mut config = Config::new("x", "1");
        for revision in Revision::ALL {
            assert!(!allows(&config, revision, "completion/complete"));
        }
        config.capabilities.completions = Some(Extra::new());
        for revision in Revision::ALL {
            assert!(allows(&config, revision, "completion/complete"));
        }
    }

    #[test]
    fn tasks_are_a_capability_here_and_an_extension_there() {
        let mut config = Config::new("x", "1");
        config.capabilities.tasks = Some(ServerTasksCapability::default());
        assert!(allows(&config, Revision::LATEST_HANDSHAKE, "tasks/get"));
        assert!(!allows(&config, Revision::LATEST_HANDSHAKE, "tasks/list"));
        assert!(!allows(&config, Revision::LATEST, "tasks/get"));
        config.capabilities.extensions =
            Some(serde_json::from_str(r#"{"io.modelcontextprotocol/tasks":{}}"#).unwrap());
        assert!(allows(&config, Revision::LATEST, "tasks/get"));
        assert!(!allows(&config, Revision::LATEST, "tasks/result"));
    }

    #[test]
    fn extensions_do_not_bring_old_methods_back() {
        let mut config = Config::new("x", "1");
        config.extension_methods = vec!["acme/do".into(), "ping".into()];
        assert!(allows(&config, Revision::LATEST, "acme/do"));
        assert!(!allows(&config, Revision::LATEST, "acme/dont"));
        assert!(!allows(&config, Revision::LATEST, "ping"));
    }
}

//! What each revision allows.

use bowline_proto::{
    model::{Side, method},
    revision::{Era, Revision, VersionHeader},
};

/// Checks for which revisions something holds, oldest first.
fn holds(what: &str, expected: [bool; 5], test: impl Fn(Revision) -> bool) {
    assert_eq!(Revision::ALL.map(test), expected, "{what}");
}

#[test]
fn each_revision_has_its_own_rules() {
    for revision in Revision::ALL {
        assert_eq!(revision.rules().revision, revision);
    }
}

#[test]
fn features_come_and_go_as_the_revisions_say() {
    let (no, yes) = (false, true);
    holds("batching", [no, yes, no, no, no], |r| r.rules().batching);
    holds("sessions", [no, yes, yes, yes, no], |r| r.rules().sessions);
    holds("resumption", [no, yes, yes, yes, no], |r| {
        r.rules().resumption
    });
    holds("server requests", [yes, yes, yes, yes, no], |r| {
        r.rules().server_requests
    });
    holds("handshake", [yes, yes, yes, yes, no], |r| {
        r.era() == Era::Handshake
    });
    holds("version header", [no, no, yes, yes, yes], |r| {
        r.rules().version_header != VersionHeader::Never
    });
    holds("audio", [no, yes, yes, yes, yes], |r| {
        r.rules().features.audio
    });
    holds("form elicitation", [no, no, yes, yes, yes], |r| {
        r.rules().features.elicitation.form
    });
    holds("URL elicitation", [no, no, no, yes, yes], |r| {
        r.rules().features.elicitation.url
    });
    holds("core tasks", [no, no, no, yes, no], |r| {
        r.rules().features.core_tasks
    });
    holds("result type", [no, no, no, no, yes], |r| {
        r.rules().features.result_type
    });
    holds("-32002", [yes, yes, yes, yes, no], |r| {
        r.rules().resource_not_found == -32002
    });
    holds("-32042", [no, no, no, yes, no], |r| {
        r.rules().url_elicitation_error == Some(-32042)
    });
}

#[test]
fn methods_belong_to_revisions_and_sides() {
    let (no, yes) = (false, true);
    let client = |name: &'static str, expected| {
        holds(name, expected, |r| r.rules().allows(name, Side::Client));
    };
    let server = |name: &'static str, expected| {
        holds(name, expected, |r| r.rules().allows(name, Side::Server));
    };
    client(method::TOOLS_CALL, [yes; 5]);
    client(method::INITIALIZE, [yes, yes, yes, yes, no]);
    client(method::DISCOVER, [no, no, no, no, yes]);
    client(method::PING, [yes, yes, yes, yes, no]);
    server(method::PING, [yes, yes, yes, yes, no]);
    client(method::LOGGING_SET_LEVEL, [yes, yes, yes, yes, no]);
    client(method::RESOURCES_SUBSCRIBE, [yes, yes, yes, yes, no]);
    client(method::SUBSCRIPTIONS_LISTEN, [no, no, no, no, yes]);
    client(method::TASKS_RESULT, [no, no, no, yes, no]);
    client(method::TASKS_UPDATE, [no, no, no, no, yes]);
    client(method::PROGRESS, [yes, yes, yes, yes, no]);
    server(method::PROGRESS, [yes; 5]);
    server(method::ELICITATION_CREATE, [no, no, yes, yes, no]);
    server(method::SAMPLING_CREATE_MESSAGE, [yes, yes, yes, yes, no]);
    server(method::TASKS_CHANGED, [no, no, no, no, yes]);
    server(method::TOOLS_CALL, [no; 5]);
    client("vendor/method", [no; 5]);
}

#[test]
fn completion_was_not_declared_at_first() {
    let needed = |r: Revision| r.rules().required_capability(method::COMPLETION_COMPLETE);
    assert_eq!(needed(Revision::V2024_11_05), None);
    assert_eq!(needed(Revision::V2025_03_26), Some("completions"));
}

//! Whether a call becomes a task.

use std::time::Duration;

use bowline_proto::{
    jsonrpc::code,
    model::{ClientCapabilities, TaskMetadata, TaskSupport, task},
    revision::Revision,
    server::{CallMode, call_mode},
};

const PLAIN: Result<CallMode, i64> = Ok(CallMode::Result);
const TASK: Result<CallMode, i64> = Ok(CallMode::Task { ttl: None });
const NOT_FOUND: Result<CallMode, i64> = Err(code::METHOD_NOT_FOUND);

fn decide(
    revision: Revision,
    declares_extension: bool,
    support: &TaskSupport,
    asks: bool,
) -> Result<CallMode, i64> {
    let client = match declares_extension {
        true => task::required_capability(),
        false => ClientCapabilities::default(),
    };
    let requested = asks.then(TaskMetadata::default);
    let mode = call_mode(revision.rules(), &client, support, requested.as_ref());
    mode.map_err(|error| error.code)
}

#[test]
fn the_sender_decides_in_the_core_and_the_server_in_the_extension() {
    use Revision::{V2025_06_18, V2025_11_25, V2026_07_28};
    use TaskSupport::{Forbidden, Optional, Required};
    let invalid = Err(code::INVALID_REQUEST);
    let missing = Err(code::MISSING_CLIENT_CAPABILITY);
    for (revision, extension, support, asks, expected) in [
        (V2025_11_25, false, Forbidden, false, PLAIN),
        (V2025_11_25, false, Forbidden, true, NOT_FOUND),
        (V2025_11_25, false, Optional, false, PLAIN),
        (V2025_11_25, false, Optional, true, TASK),
        (V2025_11_25, false, Required, false, NOT_FOUND),
        (V2025_11_25, false, Required, true, TASK),
        // The extension enables nothing there.
        (V2025_11_25, true, Optional, false, PLAIN),
        (V2026_07_28, true, Forbidden, false, PLAIN),
        (V2026_07_28, true, Optional, false, TASK),
        (V2026_07_28, true, Required, false, TASK),
        (V2026_07_28, false, Optional, false, PLAIN),
        (V2026_07_28, false, Required, false, missing),
        // The parameter of the core means nothing there.
        (V2026_07_28, false, Optional, true, PLAIN),
        (V2026_07_28, true, Forbidden, true, PLAIN),
        (V2025_06_18, true, Optional, true, PLAIN),
        (V2025_06_18, true, Required, true, invalid),
    ] {
        let decided = decide(revision, extension, &support, asks);
        assert_eq!(
            decided, expected,
            "{revision} {extension} {support:?} {asks}"
        );
    }
}

#[test]
fn a_client_of_the_core_says_how_long_a_task_is_kept() {
    let mut requested = TaskMetadata::default();
    requested.ttl = Some(1500);
    let client = ClientCapabilities::default();
    let rules = Revision::V2025_11_25.rules();
    let mode = call_mode(rules, &client, &TaskSupport::Optional, Some(&requested));
    let ttl = Some(Duration::from_millis(1500));
    assert_eq!(mode, Ok(CallMode::Task { ttl }));
}

#[test]
fn the_error_names_the_extension_that_is_missing() {
    let rules = Revision::V2026_07_28.rules();
    let client = ClientCapabilities::default();
    let error = call_mode(rules, &client, &TaskSupport::Required, None).unwrap_err();
    assert!(error.message.contains(task::EXTENSION_ID), "{error:?}");
    let data = error.data.expect("it says what is missing");
    assert!(data.get().contains(r#""io.modelcontextprotocol/tasks":{}"#));
}

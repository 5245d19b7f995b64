//! The same tools in every era, with the same outcomes.

use bowline::server::{Server, Service};
use serde_json::json;

use super::{
    app::App,
    tools::{Case, all},
    user::{Outcome, REVISIONS, call},
};

#[tokio::test(start_paused = true)]
async fn every_tool_comes_to_the_same_in_every_era() {
    for revision in REVISIONS {
        for case in all() {
            let service = serve(&case);
            let outcome = call(&service, revision, case.tool.name(), json!({})).await;
            check(&case, &outcome, service.state().noted(), revision.as_str());
        }
    }
}

/// A server with this tool.
pub(super) fn serve(case: &Case) -> Service<App> {
    let server = Server::new("suite", "1").state(App::default());
    let server = server.tool(case.tool.clone());
    server.build().expect("a sound server")
}

/// Checks what a call came to, and what happened in it.
#[track_caller]
pub(super) fn check(case: &Case, outcome: &Outcome, mut noted: Vec<String>, place: &str) {
    let name = case.tool.name();
    let expected = Outcome {
        text: case.text.to_owned(),
        failed: case.failed,
        asked: case.asked.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(*outcome, expected, "{name} in {place}");
    noted.sort();
    assert_eq!(noted, case.noted, "{name} in {place}");
}

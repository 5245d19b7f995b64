//! The same tools in every era, with the same outcomes.

use bowline::server::Server;
use serde_json::json;

use super::{
    app::App,
    tools::all,
    user::{Outcome, REVISIONS, call},
};

#[tokio::test(start_paused = true)]
async fn every_tool_comes_to_the_same_in_every_era() {
    for revision in REVISIONS {
        for case in all() {
            let name = case.tool.name().to_owned();
            let server = Server::new("suite", "1").state(App::default());
            let service = server.tool(case.tool).build().expect("a sound server");
            let outcome = call(&service, revision, &name, json!({})).await;
            let expected = Outcome {
                text: case.text.to_owned(),
                failed: case.failed,
                asked: case.asked.iter().map(ToString::to_string).collect(),
            };
            assert_eq!(outcome, expected, "{name} in {revision}");
            let mut noted = service.state().noted();
            noted.sort();
            assert_eq!(noted, case.noted, "{name} in {revision}");
        }
    }
}

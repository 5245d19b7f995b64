//! The server that the suite examines.
//!
//! It listens on a port of this machine that is free, says on its first line
//! of output where, and serves until it is ended.

mod app;
mod asking;
mod content;
mod prompts;
mod resources;
mod rounds;
mod samples;
mod schemas;
mod tasks;
mod telling;

use std::time::Duration;

use app::App;
use bowline::{
    Server,
    proto::model::CacheScope,
    server::{BuildError, Service, http::HttpOptions},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (app, changes) = App::new();
    let service = service(app)?;
    tokio::spawn(changes.announce(service.clone()));
    let http = service.http(HttpOptions::default());
    let say = |address| println!("http://{address}/mcp");
    http.bind_and_serve("127.0.0.1:0", say).await?;
    Ok(())
}

fn service(app: App) -> Result<Service<App>, BuildError> {
    Server::new("bowline-conformance", env!("CARGO_PKG_VERSION"))
        .title("Bowline's fixture for the conformance suite")
        .state(app)
        .cache_hint(Duration::from_secs(60), CacheScope::Public)
        .tools(content::tools())
        .tools(telling::tools())
        .tools(schemas::tools())
        .tools(asking::tools())
        .tools(rounds::tools())
        .tools(tasks::tools())
        .prompts(prompts::prompts())
        .resources(resources::resources())
        .template(resources::template())
        .resource_subscriptions()
        .build()
}

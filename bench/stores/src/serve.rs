//! `serve`: one server, until its standard input closes.

use std::io::{Read as _, Write as _};

use bowline::server::{
    Conversation, Server, Service, TaskOptions, TaskPolicy, Tool, form::Elicit, http::HttpOptions,
    seal::SealKeys,
};
use bowline_redis::RedisStores;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::{net::TcpListener, runtime::Handle};

use crate::Failure;

/// More tasks than the benchmark makes in one process. The default is the number
/// of those that it measures, and some come before.
const MAX_TASKS: usize = 20_000;

/// Serves until standard input closes.
#[tokio::main]
pub(crate) async fn run(tools: &str, store: &str) -> Result<(), Failure> {
    let server = match tools {
        "conversations" => conversations(),
        "tasks" => tasks(),
        _ => return Err(format!("there are no tools called {tools:?}")),
    };
    let service = with_stores(server, store).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let mut out = std::io::stdout();
    writeln!(out, "{address}").map_err(|error| error.to_string())?;
    std::thread::spawn(end_with_input);
    let http = service.http(HttpOptions::default());
    http.serve(listener)
        .await
        .map_err(|error| error.to_string())
}

/// As the guide on several nodes shows it, or with what a server has by default.
async fn with_stores(server: Server, store: &str) -> Result<Service, Failure> {
    let server = match store {
        "memory" => server,
        url => {
            let keys = SealKeys::from_secret(&[7; 32]).map_err(|error| error.to_string())?;
            let stores = RedisStores::connect(url).await;
            let stores = stores.map_err(|error| error.to_string())?;
            server.seal_keys(keys).stores(stores)
        }
    };
    server.build().map_err(|error| error.to_string())
}

#[derive(Deserialize, JsonSchema)]
struct Say {
    message: String,
}

#[derive(Elicit)]
struct Name {
    name: String,
}

/// A tool that asks nothing, one that asks, and one that also makes a step.
fn conversations() -> Server {
    let say = |name: &str| Tool::new(name).description("Says it again").input::<Say>();
    let echo = say("echo").handler(async |say| Ok(say.message));
    let ask = say("ask").handler_with_conversation(async |say, cx: Conversation| {
        let name = cx.elicit::<Name>("Who is it?").key("name").required();
        let name = name.await?.name;
        Ok(format!("{name}: {}", say.message))
    });
    let step = say("step").handler_with_conversation(async |say, cx: Conversation| {
        let name = cx.elicit::<Name>("Who is it?").key("name").required();
        let name = name.await?.name;
        cx.step("noted", async { Ok(()) }).await?;
        Ok(format!("{name}: {}", say.message))
    });
    let server = Server::new("bench", "1.0.0");
    server.tool(echo).tool(ask).tool(step)
}

/// A tool whose calls are tasks that wait for an answer, and one that says how many
/// tasks the runtime has.
fn tasks() -> Server {
    let wait = Tool::new("wait")
        .description("Says it again, once it knows to whom")
        .input::<Say>()
        .task(TaskPolicy::Required)
        .handler_with_conversation(async |say, cx: Conversation| {
            let name = cx.elicit::<Name>("Who is it?").key("name").required();
            let name = name.await?.name;
            Ok(format!("{name}: {}", say.message))
        });
    let alive = Tool::new("alive")
        .description("Counts the tasks of the runtime")
        .no_input()
        .handler(async |_| {
            let alive = Handle::current().metrics().num_alive_tasks();
            Ok(alive.to_string())
        });
    let options = TaskOptions::new().max_per_caller(MAX_TASKS);
    let server = Server::new("bench", "1.0.0").task_options(options);
    server.tool(wait).tool(alive)
}

/// Whoever measures is done, or gone.
fn end_with_input() {
    let mut ignored = [0; 64];
    while let Ok(1..) = std::io::stdin().read(&mut ignored) {}
    std::process::exit(0);
}

//! Servers with several nodes, whose stores are in Redis.

mod conversations;
mod peer;
mod sessions;
mod tasks;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bowline::server::{
    Conversation, Server, Service, TaskPolicy, Tool, form::Elicit, seal::SealKeys,
};
use bowline_redis::RedisStores;
use tokio::sync::Notify;

use super::rig::Redis;

/// What the tools of all nodes share: their effects, and a gate to hold them.
#[derive(Clone, Default)]
struct App(Arc<Inner>);

#[derive(Default)]
struct Inner {
    effects: Mutex<Vec<String>>,
    is_at_gate: Notify,
    gate: Notify,
}

impl App {
    fn effect(&self, what: &str) {
        let mut effects = self
            .0
            .effects
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        effects.push(what.to_owned());
    }

    fn effects(&self) -> Vec<String> {
        let effects = self
            .0
            .effects
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        effects.clone()
    }

    async fn pass_gate(&self) {
        self.0.is_at_gate.notify_one();
        self.0.gate.notified().await;
    }
}

#[derive(Elicit)]
struct Name {
    name: String,
}

fn tools() -> Vec<Tool<App>> {
    let tool = |name: &str| Tool::new(name).description("A test").no_input();
    vec![
        tool("hello").handler(async |_| Ok("Hello!")),
        tool("greet").handler_with_conversation(async |_, cx: Conversation<App>| {
            let asked = cx.elicit::<Name>("Your name?").key("name").required();
            let name = asked.await?.name;
            cx.step("greet", async {
                cx.state().effect(&name);
                Ok(())
            })
            .await?;
            Ok(format!("Hello, {name}!"))
        }),
        tool("job")
            .task(TaskPolicy::Optional)
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                for step in ["one", "two"] {
                    cx.step(step, async {
                        cx.state().effect(step);
                        Ok(())
                    })
                    .await?;
                    if step == "one" {
                        cx.state().pass_gate().await;
                    }
                }
                Ok("both")
            }),
    ]
}

fn server(app: &App) -> Server<App> {
    let server = Server::new("greeter", "1.0.0").state(app.clone());
    tools().into_iter().fold(server, Server::tool)
}

/// A node, with a connection of its own.
async fn node(redis: &Redis, app: &App) -> Service<App> {
    let keys = SealKeys::from_secret(&[7; 32]).expect("it is long enough");
    let server = server(app).seal_keys(keys).stores(redis.stores().await);
    let server = server.lease_timeout(Duration::from_millis(500));
    server.build().expect("it is complete")
}

#[tokio::test]
async fn a_server_without_a_secret_is_not_built() {
    let redis = Redis::start();
    let stores: RedisStores = redis.stores().await;
    let built = server(&App::default()).stores(stores.clone()).build();
    let error = built.expect_err("nobody else could open what it stores");
    assert_eq!(error.name(), "seal_keys");
    assert!(error.to_string().contains("`seal_keys`"), "{error}");
    let random = server(&App::default()).stores(stores);
    let built = random.seal_keys(SealKeys::random()).build();
    built.expect_err("other nodes have other keys");
}

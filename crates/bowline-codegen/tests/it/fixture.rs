//! Locks for the tests.

use bowline::{
    RawJson,
    lock::{Lock, LockedServer, ObservedOutput},
    model::{Implementation, Prompt, Resource, ResourceTemplate, Tool},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const TRAVEL: &str = include_str!("../fixtures/travel.json");

/// Returns a lock with a server that has a bit of everything, and one that has nothing.
pub(crate) fn lock() -> Lock {
    let lists: Value = serde_json::from_str(TRAVEL).expect("the fixture is JSON");
    let info: Implementation = read(&lists["serverInfo"]);
    let mut server = LockedServer::default()
        .with_identity(Some(&info), lists["instructions"].as_str())
        .with_tools(&read::<Vec<Tool>>(&lists["tools"]))
        .expect("the schemas are JSON")
        .with_prompts(&read::<Vec<Prompt>>(&lists["prompts"]))
        .with_resources(&read::<Vec<Resource>>(&lists["resources"]))
        .with_resource_templates(&read::<Vec<ResourceTemplate>>(&lists["resourceTemplates"]));
    let quote = server.tools.get_mut("get_quote").expect("it is there");
    let result = json!({"amount": 12.5, "currency": "EUR"});
    quote.observed_output = Some(ObservedOutput::observe(None, &result));
    with_servers([("travel", server), ("nothing", LockedServer::default())])
}

/// Returns a lock with tools of these names.
pub(crate) fn lock_with_tools(names: &[&str]) -> Lock {
    let tools = names.iter().map(|name| {
        let mut tool = Tool::new(*name);
        let schema = json!({"type": "object", "properties": {(*name): {"type": "string", "description": name}}});
        tool.description = Some((*name).to_owned());
        tool.input_schema = RawJson::from_string(schema.to_string()).ok();
        tool.output_schema = RawJson::from_string(schema.to_string()).ok();
        tool
    });
    let tools: Vec<Tool> = tools.collect();
    let server = LockedServer::default().with_tools(&tools);
    with_servers([("names", server.expect("the schemas are JSON"))])
}

pub(crate) fn with_servers<const N: usize>(servers: [(&str, LockedServer); N]) -> Lock {
    let mut lock = Lock::default();
    for (name, server) in servers {
        lock.servers.insert(name.to_owned(), server);
    }
    lock
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).expect("the fixture is valid")
}

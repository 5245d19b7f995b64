//! What servers of others offer, as `cargo xtask peers` has found it.

use std::error::Error;

use bowline::{
    lock::{Lock, LockedServer},
    model::Tool,
};
use serde_json::{Map, Value};

/// Returns a lock with all servers.
pub(crate) fn lock(offers: &str) -> Result<Lock, Box<dyn Error>> {
    let offers: Map<String, Value> = serde_json::from_str(offers)?;
    let mut lock = Lock::default();
    for (name, offered) in offers {
        let list = |member: &str| offered.get(member).cloned().unwrap_or(Value::Array(vec![]));
        let info = serde_json::from_value(offered["serverInfo"].clone())?;
        let tools: Vec<Tool> = serde_json::from_value(list("tools"))?;
        let prompts: Vec<_> = serde_json::from_value(list("prompts"))?;
        let resources: Vec<_> = serde_json::from_value(list("resources"))?;
        let templates: Vec<_> = serde_json::from_value(list("resourceTemplates"))?;
        let server = LockedServer::default()
            .with_identity(Some(&info), None)
            .with_tools(&tools)?
            .with_prompts(&prompts)
            .with_resources(&resources)
            .with_resource_templates(&templates);
        lock.servers.insert(name, server);
    }
    Ok(lock)
}

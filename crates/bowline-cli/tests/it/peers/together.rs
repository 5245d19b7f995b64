//! Several servers at once: `status`, `search`, and a `list` of everything.

use serde_json::{Value, json};

use super::{node, python, run, value};
use crate::rig::Rig;

#[test]
fn servers_of_both_eras_are_looked_at_together() {
    let rig = Rig::empty();
    rig.configure(&json!({"mcpServers": {
        "everything": {"command": node("mcp-server-everything")},
        "time": {"command": python("mcp-server-time")},
    }}));
    let status = value(&rig, &["status"], &[]);
    let servers = status["servers"].as_array().expect("there are servers");
    let seen: Vec<_> = servers
        .iter()
        .map(|server| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&server["name"]), text(&server["revision"]))
        })
        .collect();
    let expected = [("everything", "2025-11-25"), ("time", "2026-07-28")];
    let expected = expected.map(|(name, era)| (name.to_owned(), era.to_owned()));
    assert_eq!(seen, expected, "{status}");
    let found = run(&rig, &["search", "timezone", "--names"], &[]);
    let names: Vec<&str> = found.text().lines().collect();
    assert!(names.contains(&"time.convert_time"), "{found:?}");
    assert!(
        names.iter().all(|name| name.starts_with("time.")),
        "{found:?}"
    );
}

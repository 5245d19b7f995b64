//! Over standard input and output.

use std::fs;

use bowline::{Revision, transport::ChildProcess};
use serde_json::Value;

use super::{builders, call_one, entries, new_folder, peers};

#[tokio::test]
async fn every_server_is_called_over_stdio() {
    let mut newest = Vec::new();
    for (name, entry) in entries() {
        for builder in builders() {
            let folder = new_folder();
            fs::write(folder.join("here.txt"), "").expect("it can be written");
            let client = builder.connect(process(&entry, &folder)).await;
            let client = client.unwrap_or_else(|error| panic!("{name}: {error:#}"));
            call_one(&name, &client, &folder).await;
            let info = client.server_info().expect("a session");
            if info.revision == Revision::LATEST {
                newest.push(name.clone());
            }
            client.stop().await;
            fs::remove_dir_all(&folder).expect("it can be removed");
        }
    }
    // These speak both eras; the others only the handshake's.
    assert_eq!(newest, NEWEST);
}

/// The servers that speak the newest revision.
const NEWEST: [&str; 5] = ["excel", "fetch", "git", "grafana", "time"];

pub(super) fn process(entry: &Value, folder: &std::path::Path) -> ChildProcess {
    let command = entry["command"].as_str().expect("a command");
    let mut process = ChildProcess::new(peers().join(command)).current_dir(folder);
    // Otherwise one server keeps what it knows beside its program.
    process = process.env("MEMORY_FILE_PATH", folder.join("memory.jsonl"));
    for argument in entry["args"].as_array().into_iter().flatten() {
        process = process.args([argument.as_str().expect("a string")]);
    }
    for (name, value) in entry["env"].as_object().into_iter().flatten() {
        process = process.env(name, value.as_str().expect("a string"));
    }
    process
}

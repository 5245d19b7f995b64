//! One call to each server of others, through its generated client: over stdio and
//! HTTP, in both eras where the server has them; and to some through TypeScript.

mod http;
mod stdio;
mod typescript;

use std::{fs, path::Path, path::PathBuf, sync::atomic};

use bowline::{Client, Revision, client::ClientBuilder, model::CallToolResult};
use serde_json::Value;

use crate::servers;

/// The folder in which the servers are installed.
fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers")
}

/// The entries of `peers/servers.json`.
fn entries() -> serde_json::Map<String, Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers/servers.json");
    let text = fs::read_to_string(path).expect("the file exists");
    let config: Value = serde_json::from_str(&text).expect("JSON");
    config["mcpServers"].as_object().expect("an object").clone()
}

/// A client that speaks the newest revision if the server does, or one that does not.
fn builders() -> [ClientBuilder; 2] {
    let handshake = Revision::ALL
        .into_iter()
        .filter(|it| *it != Revision::LATEST);
    let builder = || Client::builder().connect_timeout(std::time::Duration::from_secs(60));
    [builder(), builder().revisions(handshake)]
}

/// Returns a new folder for the files of a test.
fn new_folder() -> PathBuf {
    static LAST: atomic::AtomicU32 = atomic::AtomicU32::new(0);
    let number = LAST.fetch_add(1, atomic::Ordering::Relaxed);
    let folder =
        std::env::temp_dir().join(format!("codegen-tests-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("it can be created");
    folder
}

/// Calls a tool of a server and checks the result.
// tidy: long table, one arm for each server
async fn call_one(name: &str, client: &Client, folder: &Path) {
    let path = |file: &str| folder.join(file).to_string_lossy().into_owned();
    match name {
        "brave" => {
            // Any query would leave this machine, so the server refuses this one.
            let args = servers::brave::brave_web_search::Args::new("");
            let result = servers::brave::brave_web_search(client, &args).await;
            assert!(failed(result), "the query is empty");
        }
        "chart" => {
            use servers::chart::generate_pie_chart::{Args, DataItem};
            let args = Args::new(vec![DataItem::new("a", 1.0)]);
            let result = servers::chart::generate_pie_chart(client, &args).await;
            assert!(failed(result), "nothing listens where it draws");
        }
        "everything" => {
            let args = servers::everything::get_sum::Args::new(17.0, 25.0);
            let result = servers::everything::get_sum(client, &args).await;
            let text = result.expect("a sum").all_text();
            assert!(text.contains("42"), "{text}");
        }
        "excel" => call_excel(client, &path("book.xlsx")).await,
        "fetch" => {
            let args = servers::fetch::fetch::Args::new("http://127.0.0.1:9/");
            let result = servers::fetch::fetch(client, &args).await;
            assert!(failed(result), "nothing listens there");
        }
        "filesystem" => {
            let args = servers::filesystem::list_directory::Args::new(path("."));
            let result = servers::filesystem::list_directory(client, &args).await;
            assert!(result.expect("a list").content.contains("here.txt"));
        }
        "git" => {
            let args = servers::git::git_status::Args::new(path("no repository"));
            let result = servers::git::git_status(client, &args).await;
            assert!(failed(result), "there is no repository");
        }
        "git-cyanheads" => {
            use servers::git_cyanheads::{git_init, git_status};
            let args = git_init::Args::default().path(path("repository"));
            let made = git_init(client, &args).await.expect("a repository");
            assert!(made.success);
            let args = git_status::Args::default().path(path("repository"));
            let status = git_status(client, &args).await.expect("its status");
            assert!(status.is_clean);
        }
        "gitlab" => {
            let args = servers::gitlab::discover_tools::Args::default();
            let result = servers::gitlab::discover_tools(client, &args).await;
            let text = result.expect("categories").all_text();
            assert!(text.contains("categories"), "{text}");
        }
        "grafana" => {
            let args = servers::grafana::generate_deeplink::Args::new("dashboard");
            let args = args.dashboard_uid("abc");
            let result = servers::grafana::generate_deeplink(client, &args).await;
            let text = result.expect("a link").all_text();
            assert!(text.contains("/d/abc"), "{text}");
        }
        "hubspot" => call_hubspot(client).await,
        "memory" => {
            use servers::memory::create_entities::{Args, Entity};
            let entity = Entity::new("Ada", "person", vec!["She counts.".to_owned()]);
            let result = servers::memory::create_entities(client, &Args::new(vec![entity])).await;
            assert_eq!(result.expect("entities").entities[0].name, "Ada");
        }
        "notion" => {
            let result = servers::notion::api_get_self(client).await;
            assert!(failed(result), "nothing listens where it asks");
        }
        "sequential-thinking" => {
            use servers::sequential_thinking::sequentialthinking::{Args, NextThoughtNeeded};
            let args = Args::new("First", NextThoughtNeeded::Boolean(false), 1, 1);
            let result = servers::sequential_thinking::sequentialthinking(client, &args).await;
            assert_eq!(result.expect("a thought").thought_number, 1.0);
        }
        "time" => {
            let args = servers::time::convert_time::Args::new("UTC", "16:30", "Asia/Tokyo");
            let result = servers::time::convert_time(client, &args).await;
            let text = format!("{:?}", result.expect("a time"));
            assert!(text.contains("01:30"), "{text}");
        }
        other => panic!("{other} is in peers/servers.json, but nothing here calls it"),
    }
}

async fn call_excel(client: &Client, path: &str) {
    use servers::excel::{create_workbook, read_range, write_range};
    let args = create_workbook::Args::new(path).sheets(vec!["One".to_owned()]);
    let made = create_workbook(client, &args).await.expect("a workbook");
    assert!(made.is_error != Some(true), "{made:?}");
    let text = |text: &str| Some(write_range::RowItem::Text(text.to_owned()));
    let rows = vec![vec![text("x"), Some(write_range::RowItem::Number(1.0))]];
    let args = write_range::Args::new(path, "One", "A1", rows);
    write_range(client, &args).await.expect("rows are written");
    let args = read_range::Args::new(path, "One");
    let read = read_range(client, &args).await.expect("the rows");
    assert!(format!("{read:?}").contains("A1:B1"), "{read:?}");
}

async fn call_hubspot(client: &Client) {
    use servers::hubspot::hubspot_get_link::{Args, PageRequest, Pagetype};
    let request = PageRequest::new(Pagetype::Record, "0-1").object_id("7");
    let args = Args::new("1", "app.hubspot.com", vec![request]);
    let result = servers::hubspot::hubspot_get_link(client, &args).await;
    let text = result.expect("a link").all_text();
    assert!(text.contains("/contacts/1/record/0-1/7"), "{text}");
}

/// Returns whether a call that needs the network failed, in one of the ways in which
/// servers say so.
fn failed(result: Result<CallToolResult, bowline::Error>) -> bool {
    match result {
        Ok(result) => result.is_error == Some(true),
        Err(error) => error.server_error().is_some(),
    }
}

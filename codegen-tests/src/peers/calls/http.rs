//! Over HTTP, for the servers that have it.

use std::{fs, net::TcpListener, process::Stdio, time::Duration};

use bowline::{Revision, transport::Http};
use tokio::process::{Child, Command};

use super::{builders, call_one, entries, new_folder, peers};

/// A server that listens on a port: its name and arguments, in which `PORT` stands for
/// the port.
const SERVERS: [(&str, &[&str]); 5] = [
    (
        "brave",
        &[
            "--transport",
            "http",
            "--host",
            "127.0.0.1",
            "--port",
            "PORT",
        ],
    ),
    (
        "chart",
        &[
            "--transport",
            "streamable",
            "--host",
            "127.0.0.1",
            "--port",
            "PORT",
        ],
    ),
    ("everything", &["streamableHttp"]),
    (
        "excel",
        &[
            "streamable-http",
            "--host",
            "127.0.0.1",
            "--port",
            "PORT",
            "--allow-unauthenticated",
            "--allow-dir",
            ".",
        ],
    ),
    (
        "grafana",
        &["-t", "streamable-http", "-address", "127.0.0.1:PORT"],
    ),
];

#[tokio::test]
async fn servers_are_called_over_http() {
    let mut newest = Vec::new();
    for (name, arguments) in SERVERS {
        let port = free_port();
        let folder = new_folder();
        let _server = start(name, arguments, port, &folder);
        let url = format!("http://127.0.0.1:{port}/mcp");
        for builder in builders() {
            let transport = Http::new(&url).expect("a URL");
            let client = builder.connect_in_background(transport);
            let ready = client.wait_ready(Duration::from_secs(120)).await;
            ready.unwrap_or_else(|error| panic!("{name}: {error:#}"));
            call_one(name, &client, &folder).await;
            let info = client.server_info().expect("a session");
            if info.revision == Revision::LATEST {
                newest.push(name);
            }
            client.stop().await;
            let _ = fs::remove_file(folder.join("book.xlsx"));
        }
        fs::remove_dir_all(&folder).expect("it can be removed");
    }
    assert_eq!(
        newest,
        ["excel", "grafana"],
        "the others only speak the handshake's revisions"
    );
}

/// Returns a port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Starts a server, which ends when the result is dropped.
fn start(name: &str, arguments: &[&str], port: u16, folder: &std::path::Path) -> Child {
    let entry = &entries()[name];
    let program = peers().join(entry["command"].as_str().expect("a command"));
    let mut command = Command::new(program);
    let port = port.to_string();
    command.args(
        arguments
            .iter()
            .map(|argument| argument.replace("PORT", &port)),
    );
    command.env("PORT", &port).current_dir(folder);
    for (name, value) in entry["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().expect("a string"));
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.kill_on_drop(true).spawn().expect("it starts")
}

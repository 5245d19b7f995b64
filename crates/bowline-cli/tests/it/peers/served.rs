//! Servers that listen, and end with the test.

use std::{
    io::{BufRead as _, BufReader, Read},
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{node, python, text, top};

/// How long a server may take to say that it listens.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server process, which ends with this.
pub(super) struct Served {
    process: Child,
    port: u16,
}

impl Served {
    /// `server-everything`, on a port that was free a moment ago.
    pub(super) fn everything(mode: &str) -> Self {
        for _ in 0..5 {
            let port = free_port();
            let mut command = Command::new(node("mcp-server-everything"));
            let mut process = start(command.arg(mode).env("PORT", port.to_string()));
            let words = process.stderr.take().expect("a pipe");
            if heard(words, "port").is_some() {
                return Self { process, port };
            }
            // It has ended already, because somebody was quicker.
            let _ = process.wait();
        }
        panic!("it does not start");
    }

    /// A server of ours on the Python SDK.
    pub(super) fn python(server: &str, mode: &str) -> Self {
        let mut command = Command::new(python("python"));
        command.arg(text(&top().join("peers/servers/over_http.py")));
        let mut process = start(command.args([server, mode]));
        let words = process.stdout.take().expect("a pipe");
        let port = heard(words, "").expect("it says where it is");
        let port = port.trim().parse().expect("it is a number");
        Self { process, port }
    }

    /// Where it is.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended by itself is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").port()
}

fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// The first line with this in it. What follows is read, and dropped.
fn heard(words: impl Read + Send + 'static, wanted: &'static str) -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(words).lines().map_while(Result::ok) {
            if line.contains(wanted) {
                // Only the first is waited for.
                let _ = sender.send(line);
            }
        }
    });
    receiver.recv_timeout(PATIENCE).ok()
}

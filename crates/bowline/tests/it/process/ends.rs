//! No process is left behind, however a connection ends.

use std::{process::Stdio, time::Duration};

use bowline::{Client, transport::ChildProcess};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use super::{example, faulty, faulty_path, gone, is_gone, kill, within};

/// A server and its child, both of which hold a socket while they live. They
/// are killed when the test is over, however it is.
struct Family {
    socket: BufReader<TcpStream>,
    pids: Vec<u32>,
}

impl Family {
    /// Those that connect to `listener`.
    async fn meet(listener: &TcpListener) -> Self {
        let (socket, _) = within("the server", listener.accept())
            .await
            .expect("it connects");
        let mut socket = BufReader::new(socket);
        let mut line = String::new();
        within("the pids", socket.read_line(&mut line))
            .await
            .expect("it says who they are");
        let pids = line.split_whitespace().map(str::parse);
        let pids = pids.collect::<Result<_, _>>().expect("by number");
        Self { socket, pids }
    }

    /// Waits for all of them to be gone.
    async fn end(mut self) {
        let mut rest = Vec::new();
        let end = self.socket.read_to_end(&mut rest);
        within("the last of them", end).await.ok();
        gone(&self.pids).await;
        self.pids.clear();
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        for pid in &self.pids {
            kill(*pid, "KILL");
        }
    }
}

/// A client of a server with a child that does not end when asked.
async fn family(stubborn: bool) -> (Client, Family) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener
        .local_addr()
        .expect("it is bound")
        .port()
        .to_string();
    let server = if stubborn {
        // What ignores a signal when it is started goes on to.
        ChildProcess::new("sh")
            .args(["-c", "trap '' TERM; exec \"$0\" forks \"$1\""])
            .arg(faulty_path())
            .arg(port)
    } else {
        faulty("forks").arg(port)
    };
    let server = server.shutdown_timeout(Duration::from_millis(100));
    let connecting = Client::builder().connect(server);
    let (client, family) = tokio::join!(within("connecting", connecting), Family::meet(&listener));
    (client.expect("it opens"), family)
}

#[tokio::test]
async fn no_orphan_is_left_after_stop() {
    let (client, family) = family(false).await;
    assert_eq!(family.pids.len(), 2);
    assert!(family.pids.iter().all(|pid| !is_gone(*pid)));
    within("stopping", client.stop()).await;
    family.end().await;
}

#[tokio::test]
async fn not_even_if_nobody_ends_when_asked() {
    let (client, family) = family(true).await;
    within("stopping", client.stop()).await;
    family.end().await;
}

#[tokio::test]
async fn no_orphan_is_left_when_the_server_is_killed() {
    let (client, family) = family(false).await;
    kill(family.pids[0], "KILL");
    family.end().await;
    drop(client);
}

#[tokio::test]
async fn no_orphan_is_left_when_the_client_is_dropped() {
    let (client, family) = family(false).await;
    drop(client);
    family.end().await;
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime")
}

#[test]
fn no_orphan_is_left_when_the_runtime_goes_first() {
    let doomed = runtime();
    let (client, family) = doomed.block_on(family(true));
    drop(doomed);
    let other = runtime();
    // Its socket belongs to a runtime that is gone; the pids are enough.
    other.block_on(gone(&family.pids));
    let error = other.block_on(async { client.tools().call("any", json!({})).await });
    error.expect_err("nobody is left to ask");
}

#[test]
fn a_client_may_be_dropped_outside_of_a_runtime() {
    let runtime = runtime();
    let (client, family) = runtime.block_on(family(false));
    drop(client);
    runtime.block_on(family.end());
}

#[tokio::test]
async fn a_dial_that_is_given_up_takes_its_process_along() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let server = faulty("slow").arg(port.to_string());
    let client = Client::builder().connect_in_background(server);
    let (mut socket, _) = within("the server", listener.accept())
        .await
        .expect("it connects");
    within("stopping", client.stop()).await;
    let mut nothing = [0];
    let end = within("its end", socket.read(&mut nothing)).await;
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}

/// The host runs no code then; only the guard can help.
#[tokio::test]
async fn no_orphan_is_left_when_the_host_is_killed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let mut host = tokio::process::Command::new(example("hold"))
        .args(["sh", "-c", "trap '' TERM; exec \"$0\" forks \"$1\""])
        .arg(faulty_path())
        .arg(port.to_string())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let family = Family::meet(&listener).await;
    let mut said = BufReader::new(host.stdout.take().expect("a pipe")).lines();
    let line = within("the host", said.next_line()).await;
    assert_eq!(line.expect("it speaks").as_deref(), Some("connected"));
    within("killing", host.kill()).await.expect("it is killed");
    family.end().await;
}

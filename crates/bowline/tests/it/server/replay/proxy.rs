//! A proxy that sends each request to the next node.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

use crate::sync::lock;

/// The proxy, until it is dropped.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    passed: Arc<Mutex<Passed>>,
    serving: AbortHandle,
}

/// What went where.
#[derive(Default)]
struct Passed {
    /// Whose turn it is.
    next: usize,
    /// The MCP method of each request, and the node that took it.
    log: Vec<(String, usize)>,
}

impl Proxy {
    pub(super) async fn start(nodes: Vec<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let passed = Arc::<Mutex<Passed>>::default();
        let log = Arc::clone(&passed);
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // Who breaks a connection off has its reasons.
                tokio::spawn(pass(client, nodes.clone(), Arc::clone(&log)));
            }
        });
        Self {
            address,
            passed,
            serving: serving.abort_handle(),
        }
    }

    /// The nodes that took calls of tools since this was asked last, in order.
    pub(super) fn calls(&self) -> Vec<usize> {
        let log = std::mem::take(&mut lock(&self.passed).log);
        let calls = log.into_iter().filter(|(method, _)| method == "tools/call");
        calls.map(|(_, node)| node).collect()
    }

    /// The node that took the last request.
    pub(super) fn last(&self) -> usize {
        lock(&self.passed).log.last().expect("a request").1
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Passes one request on. The node is told to close the connection after its
/// answer, and says so to the client: so the next request is another
/// connection, and goes to another node.
async fn pass(
    mut client: TcpStream,
    nodes: Vec<SocketAddr>,
    passed: Arc<Mutex<Passed>>,
) -> io::Result<()> {
    let mut read = Vec::new();
    let end = loop {
        if client.read_buf(&mut read).await? == 0 {
            return Ok(());
        }
        if let Some(end) = read.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
    };
    let (head, rest) = read.split_at(end);
    let mut node = choose(&nodes, &passed, &method(head)).await?;
    node.write_all(head).await?;
    node.write_all(b"\r\nconnection: close").await?;
    node.write_all(rest).await?;
    copy_bidirectional(&mut client, &mut node).await?;
    Ok(())
}

/// Connects to the next node that is there.
async fn choose(
    nodes: &[SocketAddr],
    passed: &Mutex<Passed>,
    method: &str,
) -> io::Result<TcpStream> {
    for _ in nodes {
        let number = {
            let mut passed = lock(passed);
            passed.next = (passed.next + 1) % nodes.len();
            passed.next
        };
        if let Ok(node) = TcpStream::connect(nodes[number]).await {
            lock(passed).log.push((method.to_owned(), number));
            return Ok(node);
        }
    }
    Err(io::Error::other("no node is there"))
}

fn method(head: &[u8]) -> String {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let header = head
        .lines()
        .find_map(|line| line.strip_prefix("mcp-method:"));
    header.unwrap_or_default().trim().to_owned()
}

//! A client of HTTP/1.1 that says what it is told to, byte by byte.

use std::net::SocketAddr;

use bytes::{Buf as _, Bytes, BytesMut};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::rig::{BOTH, stateless};

/// A connection to a server.
pub(super) struct Connection {
    stream: TcpStream,
    read: BytesMut,
}

/// An answer with a body that has an end.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Bytes,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|header| header.0.eq_ignore_ascii_case(name));
        found.map(|header| &*header.1)
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

impl Connection {
    pub(super) async fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        let read = BytesMut::new();
        Self { stream, read }
    }

    /// Sends bytes, if they are still taken.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Sends a POST and reads its whole answer.
    pub(super) async fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        self.send(path, headers, body).await;
        self.reply().await.expect("an answer")
    }

    /// Sends a POST.
    pub(super) async fn send(&mut self, path: &str, headers: &[(&str, &str)], body: &str) {
        let mut head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\naccept: {BOTH}\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let length = body.len();
        head.push_str("content-type: application/json\r\n");
        head.push_str(&format!("content-length: {length}\r\n\r\n{body}"));
        assert!(self.write(head.as_bytes()).await, "the server is gone");
    }

    /// Sends a stateless request.
    pub(super) async fn send_stateless(
        &mut self,
        headers: &[(&str, &str)],
        method: &str,
        params: &Value,
    ) {
        let (_, body) = stateless(method, params.clone());
        let mut all = headers.to_vec();
        all.push(("mcp-protocol-version", "2026-07-28"));
        all.push(("mcp-method", method));
        if let Some(name) = params["name"].as_str() {
            all.push(("mcp-name", name));
        }
        self.send("/mcp", &all, &body).await;
    }

    /// Sends a stateless request, and reads its whole answer.
    pub(super) async fn ask(
        &mut self,
        headers: &[(&str, &str)],
        method: &str,
        params: &Value,
    ) -> Reply {
        self.send_stateless(headers, method, params).await;
        self.reply().await.expect("an answer")
    }

    /// Reads an answer; `None` if the server closed the connection instead.
    pub(super) async fn reply(&mut self) -> Option<Reply> {
        let mut reply = self.head().await?;
        let length = reply
            .header("content-length")
            .map(|it| it.parse().expect("a number"));
        reply.body = match length {
            Some(length) => self.exactly(length).await?,
            None => self.chunked().await?,
        };
        Some(reply)
    }

    /// Reads the head of an answer.
    pub(super) async fn head(&mut self) -> Option<Reply> {
        let head = self.until(b"\r\n\r\n").await?;
        let head = String::from_utf8(head.to_vec()).expect("a head");
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(": ").expect("a header");
            (name.to_owned(), value.to_owned())
        });
        Some(Reply {
            status: status.expect("a status").parse().expect("a number"),
            headers: headers.collect(),
            body: Bytes::new(),
        })
    }

    /// Reads one chunk; an empty one is the end.
    pub(super) async fn chunk(&mut self) -> Option<Bytes> {
        let line = self.until(b"\r\n").await?;
        let size = std::str::from_utf8(&line[..line.len() - 2]).expect("a size");
        let size = usize::from_str_radix(size, 16).expect("a number");
        let mut chunk = self.exactly(size + 2).await?;
        chunk.truncate(size);
        Some(chunk)
    }

    async fn chunked(&mut self) -> Option<Bytes> {
        let mut whole = BytesMut::new();
        loop {
            let chunk = self.chunk().await?;
            if chunk.is_empty() {
                return Some(whole.freeze());
            }
            whole.extend_from_slice(&chunk);
        }
    }

    /// Says that nothing more comes.
    pub(super) async fn finish(&mut self) {
        // The server may have closed it already.
        let _ = self.stream.shutdown().await;
    }

    /// Waits until the server closes the connection.
    pub(super) async fn closed(&mut self) {
        while self.more().await {
            self.read.clear();
        }
    }

    async fn until(&mut self, end: &[u8]) -> Option<Bytes> {
        loop {
            let found = self.read.windows(end.len()).position(|part| part == end);
            if let Some(at) = found {
                return Some(self.read.split_to(at + end.len()).freeze());
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn exactly(&mut self, size: usize) -> Option<Bytes> {
        while self.read.remaining() < size {
            if !self.more().await {
                return None;
            }
        }
        Some(self.read.split_to(size).freeze())
    }

    async fn more(&mut self) -> bool {
        let read = self.stream.read_buf(&mut self.read).await;
        read.is_ok_and(|read| read > 0)
    }
}

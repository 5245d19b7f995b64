//! HTTP/1.1 by hand: one connection per request, and every way in which it can end.

use std::{net::SocketAddr, time::Duration};

use bytes::{Buf as _, BytesMut};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// How long a node may be silent. A node that is paused is silent for less.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request for `/mcp`.
pub(super) struct HttpRequest<'a> {
    pub(super) method: &'a str,
    pub(super) headers: Vec<(&'a str, String)>,
    pub(super) body: String,
}

/// Why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Nobody can have received the request.
    NotSent,
    /// The connection broke.
    Cut,
}

/// A response of which the head has arrived.
pub(super) struct HttpResponse {
    pub(super) status: u16,
    pub(super) session: Option<String>,
    body: Body,
    stream: TcpStream,
    read: BytesMut,
    is_event_stream: bool,
    /// What was decoded of the body and is not taken yet.
    text: String,
    /// The id of the last event.
    pub(super) last_event: Option<String>,
}

#[derive(Clone, Copy)]
enum Body {
    Length(usize),
    Chunked,
    Ended,
}

/// Sends a request and waits for the head of the response.
pub(super) async fn send(
    address: SocketAddr,
    request: &HttpRequest<'_>,
) -> Result<HttpResponse, Lost> {
    let mut stream = TcpStream::connect(address)
        .await
        .map_err(|_| Lost::NotSent)?;
    let _ = stream.set_nodelay(true);
    let mut text = format!(
        "{} /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n",
        request.method,
        request.body.len(),
    );
    for (name, value) in &request.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(&request.body);
    stream
        .write_all(text.as_bytes())
        .await
        .map_err(|_| Lost::Cut)?;
    let mut response = HttpResponse {
        status: 0,
        session: None,
        body: Body::Ended,
        stream,
        read: BytesMut::new(),
        is_event_stream: false,
        text: String::new(),
        last_event: None,
    };
    match response.read_head().await {
        Some(()) => Ok(response),
        None => Err(Lost::Cut),
    }
}

impl HttpResponse {
    async fn read_head(&mut self) -> Option<()> {
        let head = self.read_until(b"\r\n\r\n").await?;
        let mut lines = head.split("\r\n");
        self.status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        for line in lines {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match &*name.to_ascii_lowercase() {
                "content-length" => self.body = Body::Length(value.parse().ok()?),
                "transfer-encoding" => self.body = Body::Chunked,
                "content-type" => self.is_event_stream = value.starts_with("text/event-stream"),
                "mcp-session-id" => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
        Some(())
    }

    /// Returns the next message: of the stream, or the body itself. `None` is the end, or
    /// that the connection broke.
    pub(super) async fn message(&mut self) -> Option<Value> {
        loop {
            if self.is_event_stream {
                if let Some((event, rest)) = self.text.split_once("\n\n") {
                    let (event, rest) = (event.to_owned(), rest.to_owned());
                    self.text = rest;
                    match self.take_event(&event) {
                        Some(message) => return Some(message),
                        None => continue,
                    }
                }
            } else if matches!(self.body, Body::Ended) {
                let text = std::mem::take(&mut self.text);
                return serde_json::from_str(&text).ok();
            }
            self.read_body().await?;
        }
    }

    /// Reads the rest, so the connection ends in order.
    pub(super) async fn drain(&mut self) -> Option<()> {
        while !matches!(self.body, Body::Ended) {
            self.read_body().await?;
        }
        Some(())
    }

    fn take_event(&mut self, event: &str) -> Option<Value> {
        let mut data = String::new();
        for line in event.lines() {
            if let Some(id) = line.strip_prefix("id:") {
                self.last_event = Some(id.trim().to_owned());
            } else if let Some(text) = line.strip_prefix("data:") {
                data.push_str(text.trim());
            }
        }
        serde_json::from_str(&data).ok()
    }

    /// Reads some more of the body. `None` if there is no more.
    async fn read_body(&mut self) -> Option<()> {
        let part = match self.body {
            Body::Ended => return None,
            Body::Length(length) => {
                self.body = Body::Ended;
                self.read_exactly(length).await?
            }
            Body::Chunked => {
                let size = self.read_until(b"\r\n").await?;
                let size = usize::from_str_radix(size.trim(), 16).ok()?;
                let chunk = self.read_exactly(size + 2).await?;
                if size == 0 {
                    self.body = Body::Ended;
                }
                chunk[..size].to_owned()
            }
        };
        self.text.push_str(&part);
        Some(())
    }

    async fn read_until(&mut self, end: &[u8]) -> Option<String> {
        loop {
            let found = self.read.windows(end.len()).position(|part| part == end);
            if let Some(at) = found {
                let found = self.read.split_to(at + end.len());
                return String::from_utf8(found.to_vec()).ok();
            }
            self.read_more().await?;
        }
    }

    async fn read_exactly(&mut self, length: usize) -> Option<String> {
        while self.read.remaining() < length {
            self.read_more().await?;
        }
        String::from_utf8(self.read.split_to(length).to_vec()).ok()
    }

    async fn read_more(&mut self) -> Option<()> {
        let reading = self.stream.read_buf(&mut self.read);
        let read = timeout(PATIENCE, reading).await.ok()?;
        read.ok().filter(|read| *read > 0).map(drop)
    }
}

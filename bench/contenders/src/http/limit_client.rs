//! The least that calls over HTTP: one connection of hyper's for each lane, a
//! request of the same bytes, and the answer decoded by its type.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, StatusCode, Uri,
    client::conn::http1::{self, SendRequest},
    header::{HeaderMap, HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::{net::TcpStream, sync::Mutex};

use super::{
    TEXT,
    call::{Caller, Load},
};
use crate::Failure;

/// Connects, and makes the calls.
pub(super) async fn run(load: &Load) -> Result<(), Failure> {
    let uri: Uri = load.url.parse().map_err(|_| format!("{}?", load.url))?;
    let mut lanes = Vec::with_capacity(load.width);
    for number in 0..load.width {
        lanes.push(Limit::connect(&uri, number as u64).await?);
    }
    load.measure(lanes).await
}

/// A connection, with a number for the next request.
#[derive(Clone)]
struct Limit {
    // Of its lane alone: it is never waited for.
    sender: Arc<Mutex<SendRequest<Full<Bytes>>>>,
    uri: Uri,
    headers: HeaderMap,
    next: u64,
}

impl Limit {
    async fn connect(uri: &Uri, number: u64) -> Result<Self, Failure> {
        let address = uri.authority().ok_or("the URL has no host")?;
        let stream = TcpStream::connect(address.as_str()).await;
        let stream = stream.map_err(|error| error.to_string())?;
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        Ok(Self {
            sender: Arc::new(Mutex::new(sender)),
            uri: Uri::from_static(super::PATH),
            headers: headers(address.as_str())?,
            next: number << 20,
        })
    }
}

/// What our client sends with every call.
fn headers(host: &str) -> Result<HeaderMap, Failure> {
    let constant = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in constant {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    let host = HeaderValue::from_str(host).map_err(|error| error.to_string())?;
    headers.insert(HeaderName::from_static("host"), host);
    Ok(headers)
}

impl Caller for Limit {
    async fn call(&mut self) -> Result<usize, Failure> {
        self.next += 1;
        let body = serde_json::to_vec(&call(self.next)).map_err(|error| error.to_string())?;
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = hyper::Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        let mut sender = self.sender.lock().await;
        sender.ready().await.map_err(|error| error.to_string())?;
        let response = sender.send_request(request).await;
        let response = response.map_err(|error| error.to_string())?;
        if response.status() != StatusCode::OK {
            return Err(response.status().to_string());
        }
        let body = response.into_body().collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        let answer: Answer<'_> =
            serde_json::from_slice(&body).map_err(|error| error.to_string())?;
        if answer.id != self.next {
            return Err("somebody else's answer".to_owned());
        }
        let text = answer.result.content.first();
        Ok(text.map_or(0, |block| block.text.len()))
    }
}

// What is asked.

#[derive(Serialize)]
struct Call {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: Params,
}

#[derive(Serialize)]
struct Params {
    name: &'static str,
    arguments: Say,
    #[serde(rename = "_meta")]
    meta: Meta,
}

#[derive(Serialize)]
struct Say {
    message: &'static str,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'static str,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Nothing,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    info: Info,
}

#[derive(Serialize)]
struct Info {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Nothing {}

fn call(id: u64) -> Call {
    Call {
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: Params {
            name: "echo",
            arguments: Say { message: TEXT },
            meta: Meta {
                version: "2026-07-28",
                info: Info {
                    name: "bench",
                    version: "1.0.0",
                },
                capabilities: Nothing {},
            },
        },
    }
}

// What is answered.

#[derive(Deserialize)]
struct Answer<'a> {
    id: u64,
    #[serde(borrow)]
    result: Answered<'a>,
}

#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

//! A server and a client, over stdio and HTTP, on serde_json, tokio and hyper:
//! `serve`, `serve <address>`, `call <host:port>`, `call <program>`.

mod echo;

use std::{convert::Infallible, process::Stdio};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response, StatusCode, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    process::Command,
};

type Failure = Box<dyn std::error::Error>;

const OPEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"limit","version":"1.0.0"}}}"#;
const OPENED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}"#;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve"] => serve_stdio().await,
        ["serve", address] => serve_http(address).await,
        ["call", place] if place.contains(':') => call_http(place).await,
        ["call", program] => call_program(program).await,
        _ => Err("serve [address], or call <host:port or program>".into()),
    }
}

async fn serve_stdio() -> Result<(), Failure> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut output = tokio::io::stdout();
    while let Some(line) = lines.next_line().await? {
        if let Some(mut answer) = echo::answer(line.as_bytes()) {
            answer.push(b'\n');
            output.write_all(&answer).await?;
            output.flush().await?;
        }
    }
    Ok(())
}

async fn serve_http(address: &str) -> Result<(), Failure> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let builder = hyper::server::conn::http1::Builder::new();
        tokio::spawn(builder.serve_connection(TokioIo::new(stream), service_fn(answered)));
    }
}

async fn answered(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await;
    let answer = body.ok().and_then(|body| echo::answer(&body.to_bytes()));
    let mut response = Response::new(Full::new(Bytes::new()));
    match answer {
        Some(answer) => *response.body_mut() = Full::new(answer.into()),
        None => *response.status_mut() = StatusCode::ACCEPTED,
    }
    Ok(response)
}

async fn call_http(place: &str) -> Result<(), Failure> {
    let stream = TcpStream::connect(place).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    for text in [OPEN, OPENED, CALL] {
        let request = Request::post("/mcp")
            .header("host", place)
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from_static(text.as_bytes())))?;
        let answer = sender
            .send_request(request)
            .await?
            .into_body()
            .collect()
            .await?;
        print_text(&answer.to_bytes());
    }
    Ok(())
}

async fn call_program(program: &str) -> Result<(), Failure> {
    let mut child = Command::new(program)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("no pipes".into());
    };
    let mut lines = BufReader::new(output).lines();
    for text in [OPEN, OPENED, CALL] {
        input.write_all(format!("{text}\n").as_bytes()).await?;
        if text.contains("\"id\"") {
            print_text(lines.next_line().await?.unwrap_or_default().as_bytes());
        }
    }
    drop(input);
    child.wait().await?;
    Ok(())
}

fn print_text(answer: &[u8]) {
    let answer: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    if let Some(text) = answer["result"]["content"][0]["text"].as_str() {
        println!("{text}");
    }
}

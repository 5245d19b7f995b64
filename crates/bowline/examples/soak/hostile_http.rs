//! A server over HTTP that does wrong things, chosen anew for each request.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{figures::Chance, hostile_server::said};

/// Serves until its standard input closes; says its port first.
pub(crate) fn run(seed: u64) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", listener.local_addr()?.port());
    thread::spawn(move || {
        let mut chance = Chance::new(seed);
        for socket in listener.incoming().flatten() {
            let chance = Chance::new(chance.next());
            // Whoever hangs up is not missed.
            thread::spawn(move || serve(socket, chance));
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// One connection: requests that are answered well enough to go on, until one
/// is not.
fn serve(socket: TcpStream, mut chance: Chance) -> io::Result<()> {
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    socket.set_write_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(socket.try_clone()?);
    let mut out = socket;
    while let Some((verb, message)) = request(&mut reader)? {
        if verb != "POST" {
            out.write_all(b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        match message["method"].as_str() {
            Some("initialize") if chance.below(4) > 0 => initialize(&mut out, &message)?,
            Some("notifications/initialized") => {
                out.write_all(b"HTTP/1.1 202 Ok\r\ncontent-length: 0\r\n\r\n")?;
            }
            _ => wrong(&mut out, &message, &mut chance)?,
        }
    }
    Ok(())
}

/// The verb and the body of the next request.
fn request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<(String, Value)>> {
    let (mut verb, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if verb.is_empty() {
            verb = line.split(' ').next().unwrap_or_default().to_uppercase();
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((
        verb,
        serde_json::from_slice(&body).unwrap_or_default(),
    )))
}

fn initialize(out: &mut TcpStream, message: &Value) -> io::Result<()> {
    let result = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "hostile", "version": "1"},
    });
    let body = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let head = format!(
        "HTTP/1.1 200 Ok\r\ncontent-type: application/json\r\nmcp-session-id: s\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    out.write_all(head.as_bytes())?;
    out.write_all(body.as_bytes())
}

/// One wrong answer.
fn wrong(out: &mut TcpStream, message: &Value, chance: &mut Chance) -> io::Result<()> {
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": said("done")});
    match chance.below(10) {
        0 => endless_stream(out, message),
        1 => slow_body(out, &answer.to_string()),
        2 => large_event(out),
        3 => out.write_all(b"HTTP/1.1 404 Gone\r\ncontent-length: 0\r\n\r\n"),
        4 => large_refusal(out),
        5 => large_head(out),
        6 => out
            .write_all(b"HTTP/1.1 503 No\r\nretry-after: 99999999999\r\ncontent-length: 0\r\n\r\n"),
        7 => out.write_all(
            b"HTTP/1.1 307 There\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        ),
        8 => out.write_all(
            b"HTTP/1.1 200 Ok\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nhtml",
        ),
        _ => Err(io::Error::other("hung up")),
    }
}

fn stream_head(out: &mut TcpStream) -> io::Result<()> {
    out.write_all(b"HTTP/1.1 200 Ok\r\ncontent-type: text/event-stream\r\n\r\n")
}

/// Events for ever, and never the answer.
fn endless_stream(out: &mut TcpStream, message: &Value) -> io::Result<()> {
    stream_head(out)?;
    let token = &message["params"]["_meta"]["progressToken"];
    for step in 0..20_000 {
        let params = json!({"progressToken": token, "progress": step});
        let note = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        write!(out, "id: {step}\ndata: {note}\n\n")?;
    }
    thread::park_timeout(Duration::from_secs(5));
    Err(io::Error::other("hung up"))
}

/// A byte at a time.
fn slow_body(out: &mut TcpStream, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 Ok\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    out.write_all(head.as_bytes())?;
    for byte in body.as_bytes() {
        out.write_all(&[*byte])?;
        thread::park_timeout(Duration::from_millis(20));
    }
    Ok(())
}

/// One event that has no end.
fn large_event(out: &mut TcpStream) -> io::Result<()> {
    stream_head(out)?;
    out.write_all(b"data: ")?;
    let chunk = vec![b'x'; 64 * 1024];
    for _ in 0..400 {
        out.write_all(&chunk)?;
    }
    Err(io::Error::other("hung up"))
}

/// A refusal whose reason is long.
fn large_refusal(out: &mut TcpStream) -> io::Result<()> {
    out.write_all(b"HTTP/1.1 400 No\r\ncontent-length: 30000000\r\n\r\n")?;
    let chunk = vec![b'x'; 64 * 1024];
    for _ in 0..457 {
        out.write_all(&chunk)?;
    }
    Err(io::Error::other("hung up"))
}

/// A head that has no end.
fn large_head(out: &mut TcpStream) -> io::Result<()> {
    out.write_all(b"HTTP/1.1 200 Ok\r\n")?;
    for number in 0..20_000 {
        write!(out, "x-{number}: {number}\r\n")?;
    }
    Err(io::Error::other("hung up"))
}

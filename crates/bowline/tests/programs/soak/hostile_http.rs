//! A hostile HTTP server that picks a fault for each request at random.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    figures::Chance,
    hostile_server::{LARGE, said},
    pace::{HOSTILE_SHARE, Pace},
    under_servers::WAYS,
};

/// How many writes there are between two checks of the pace.
const WRITES_PER_REST: usize = 200;

/// A connection and the shared pace.
struct Out {
    socket: TcpStream,
    pace: Arc<Pace>,
    writes: usize,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1 + bytes.len() / 1000;
        if self.writes > WRITES_PER_REST {
            self.writes = 0;
            self.pace.rest();
        }
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Serves until its standard input closes; prints its port first.
pub(crate) fn run(seed: u64) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", listener.local_addr()?.port());
    thread::spawn(move || {
        let mut chance = Chance::new(seed);
        let pace = Arc::new(Pace::new(HOSTILE_SHARE / WAYS));
        for socket in listener.incoming().flatten() {
            let chance = Chance::new(chance.next());
            let pace = Arc::clone(&pace);
            // Connection errors do not matter.
            thread::spawn(move || serve(socket, chance, pace));
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// Serves one connection: answers requests correctly until one gets a fault.
fn serve(socket: TcpStream, mut chance: Chance, pace: Arc<Pace>) -> io::Result<()> {
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    socket.set_write_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(socket.try_clone()?);
    let mut out = Out {
        socket,
        pace,
        writes: 0,
    };
    while let Some((verb, message)) = request(&mut reader)? {
        out.pace.rest();
        if verb == "GET" && chance.below(2) == 0 {
            return news(&mut out);
        }
        if verb != "POST" {
            out.write_all(b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        match message["method"].as_str() {
            Some("initialize") if chance.below(4) > 0 => initialize(&mut out, &message)?,
            Some("notifications/initialized") => {
                out.write_all(b"HTTP/1.1 202 Ok\r\ncontent-length: 0\r\n\r\n")?;
            }
            Some("tools/list") if chance.below(2) > 0 => list(&mut out, &message, &mut chance)?,
            _ => wrong(&mut out, &message, &mut chance)?,
        }
    }
    Ok(())
}

/// Reads the method and the body of the next request.
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

fn initialize(out: &mut Out, message: &Value) -> io::Result<()> {
    let result = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "hostile", "version": "1"},
    });
    answer(
        out,
        &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}),
    )
}

fn answer(out: &mut Out, answer: &Value) -> io::Result<()> {
    let body = answer.to_string();
    let head = format!(
        "HTTP/1.1 200 Ok\r\ncontent-type: application/json\r\nmcp-session-id: s\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    out.write_all(head.as_bytes())?;
    out.write_all(body.as_bytes())
}

/// Sends a page of an endless list, small or large.
fn list(out: &mut Out, message: &Value, chance: &mut Chance) -> io::Result<()> {
    let page = chance.next();
    let items = *chance.of(&[1, 10, LARGE / 60]);
    let tool = |n| json!({"name": format!("{page}-{n}"), "inputSchema": {"type": "object"}});
    let tools: Vec<_> = (0..items).map(tool).collect();
    let result = json!({"tools": tools, "nextCursor": page.to_string()});
    answer(
        out,
        &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}),
    )
}

/// Sends endless notifications on the listen stream.
fn news(out: &mut Out) -> io::Result<()> {
    stream_head(out)?;
    let params = json!({"level": "info", "data": "x".repeat(200)});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
    for step in 0..20_000 {
        write!(out, "id: {step}\ndata: {note}\n\n")?;
    }
    Err(io::Error::other("hung up"))
}

/// Sends a small message in a large envelope.
fn padded(out: &mut Out, message: &Value) -> io::Result<()> {
    let padding = "x".repeat(LARGE);
    let result = said("done");
    answer(
        out,
        &json!({"jsonrpc": "2.0", "id": message["id"], "padding": padding, "result": result}),
    )
}

/// Sends nothing, for longer than any timeout.
fn silence() -> io::Result<()> {
    thread::park_timeout(Duration::from_secs(10));
    Err(io::Error::other("hung up"))
}

/// Sends one faulty response.
fn wrong(out: &mut Out, message: &Value, chance: &mut Chance) -> io::Result<()> {
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": said("done")});
    match chance.below(12) {
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
        9 => padded(out, message),
        10 => silence(),
        _ => Err(io::Error::other("hung up")),
    }
}

fn stream_head(out: &mut Out) -> io::Result<()> {
    out.write_all(b"HTTP/1.1 200 Ok\r\ncontent-type: text/event-stream\r\n\r\n")
}

/// Sends events forever, and never the response.
fn endless_stream(out: &mut Out, message: &Value) -> io::Result<()> {
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

/// Sends one byte at a time.
fn slow_body(out: &mut Out, body: &str) -> io::Result<()> {
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

/// Sends one endless event.
fn large_event(out: &mut Out) -> io::Result<()> {
    stream_head(out)?;
    out.write_all(b"data: ")?;
    let chunk = vec![b'x'; 64 * 1024];
    for _ in 0..400 {
        out.write_all(&chunk)?;
    }
    Err(io::Error::other("hung up"))
}

/// Sends an error with a large body.
fn large_refusal(out: &mut Out) -> io::Result<()> {
    out.write_all(b"HTTP/1.1 400 No\r\ncontent-length: 30000000\r\n\r\n")?;
    let chunk = vec![b'x'; 64 * 1024];
    for _ in 0..457 {
        out.write_all(&chunk)?;
    }
    Err(io::Error::other("hung up"))
}

/// Sends an endless response head.
fn large_head(out: &mut Out) -> io::Result<()> {
    out.write_all(b"HTTP/1.1 200 Ok\r\n")?;
    for number in 0..20_000 {
        write!(out, "x-{number}: {number}\r\n")?;
    }
    Err(io::Error::other("hung up"))
}

//! A misbehaving server for the tests: `faulty_server <mode> [argument]`.
//!
//! It implements just enough of the protocol, and reads only what this toolkit
//! writes: the id and the method of a message are found by string search. Every
//! wait here is for the test, never for a time.

use std::{
    env,
    io::{self, BufRead as _, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpStream},
    process::{self, Command},
    thread,
    time::{Duration, Instant},
};

/// How long until an orphaned process ends by itself.
const FORGOTTEN: Duration = Duration::from_secs(900);

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let argument = arguments.next().unwrap_or_default();
    let server = Server::new();
    match mode.as_str() {
        "relay" => relay(&argument),
        "well" => server.open()?.serve(answer),
        "silent" => silent(server),
        "deaf" => {
            server.open()?;
            park()
        }
        "late" => late(server),
        "garbage" => garbage(server),
        "half" => half(server),
        "flood" => flood(server, &argument),
        "exit" => exit(&argument),
        "slow" => slow(server, &argument),
        "late-probe" => late_probe(server),
        "late-discovery" => late_discovery(server),
        "probe-shy" => probe_shy(server),
        "forks" => forks(server, &argument),
        "abandons" => abandons(server),
        "chatty" => chatty(server),
        "flaky" => flaky(server, &argument),
        "surroundings" => server.open()?.serve(surroundings),
        "variables" => server.open()?.serve(variables),
        other => Err(io::Error::other(format!("unknown mode {other:?}"))),
    }
}

/// The standard streams, one message per line.
struct Server;

/// The parts of a message that this server uses.
struct Message {
    id: Option<String>,
    method: String,
    /// The nonce of the call, if the caller sent one.
    nonce: String,
}

impl Server {
    fn new() -> Self {
        Self
    }

    /// Returns the next message, or `None` at the end of the input.
    fn next(&self) -> io::Result<Option<Message>> {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let method = between(&line, "\"method\":\"", "\"").unwrap_or_default();
        let id = between(&line, "\"id\":", ",").filter(|_| line.starts_with("{\"jsonrpc\""));
        let is_request = line.starts_with("{\"jsonrpc\":\"2.0\",\"id\":");
        Ok(Some(Message {
            id: id.filter(|_| is_request),
            method,
            nonce: between(&line, "\"nonce\":", "}").unwrap_or_default(),
        }))
    }

    /// Returns the next message, or an error at the end of the input.
    fn must(&self) -> io::Result<Message> {
        let end = || io::Error::other("the input ended too early");
        self.next()?.ok_or_else(end)
    }

    /// Waits for a message with this method.
    fn until(&self, method: &str) -> io::Result<Message> {
        loop {
            let message = self.must()?;
            if message.method == method {
                return Ok(message);
            }
        }
    }

    fn line(&self, text: &str) -> io::Result<()> {
        let mut output = io::stdout().lock();
        output.write_all(text.as_bytes())?;
        output.write_all(b"\n")?;
        output.flush()
    }

    fn result(&self, message: &Message, result: &str) -> io::Result<()> {
        let id = message.id.as_deref().unwrap_or("null");
        self.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        ))
    }

    fn refuse(&self, message: &Message) -> io::Result<()> {
        let id = message.id.as_deref().unwrap_or("null");
        let error = r#"{"code":-32601,"message":"Method not found"}"#;
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
    }

    /// Opens a session with the handshake.
    fn open(self) -> io::Result<Self> {
        loop {
            let message = self.must()?;
            match message.method.as_str() {
                "initialize" => self.result(&message, &initialized())?,
                "notifications/initialized" => return Ok(self),
                _ => self.refuse(&message)?,
            }
        }
    }

    /// Answers every request until the input ends.
    fn serve(self, answer: impl Fn(&Message) -> String) -> io::Result<()> {
        while let Some(message) = self.next()? {
            if message.id.is_some() {
                self.result(&message, &answer(&message))?;
            }
        }
        Ok(())
    }
}

fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let start = text.find(before)? + before.len();
    let length = text[start..].find(after)?;
    Some(text[start..start + length].to_owned())
}

/// Returns an initialize result that contains the process id.
fn initialized() -> String {
    let pid = process::id();
    format!(
        r#"{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}},"logging":{{}}}},"serverInfo":{{"name":"faulty","version":"1"}},"instructions":"{pid}"}}"#
    )
}

fn text(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// Returns a tool result that names its request.
fn answer(message: &Message) -> String {
    text(message.id.as_deref().unwrap_or_default())
}

/// Blocks without reading until the process is killed.
fn park() -> io::Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < FORGOTTEN {
        thread::park_timeout(FORGOTTEN);
    }
    Ok(())
}

/// Connects its standard streams to a socket of the test.
fn relay(port: &str) -> io::Result<()> {
    let mut socket = connect(port)?;
    let mut from_test = socket.try_clone()?;
    thread::spawn(move || {
        // However this ends, the process ends with the socket.
        let _ = carry(&mut from_test, &mut io::stdout().lock());
        process::exit(0)
    });
    carry(&mut io::stdin().lock(), &mut socket)?;
    socket.shutdown(Shutdown::Both)
}

/// Copies by hand: `io::copy` would splice, and a splice from a socket keeps
/// the pipe locked while it waits, which blocks every reader.
fn carry(from: &mut impl io::Read, to: &mut impl io::Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..read])?;
        to.flush()?;
    }
}

fn connect(port: &str) -> io::Result<TcpStream> {
    let port = port.parse().map_err(io::Error::other)?;
    TcpStream::connect((Ipv4Addr::LOCALHOST, port))
}

/// Never answers a tool call, and reports when it has received 64.
fn silent(server: Server) -> io::Result<()> {
    let server = server.open()?;
    for _ in 0..64 {
        server.until("tools/call")?;
    }
    server.line(
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"seen"}}"#,
    )?;
    park()
}

/// Answers the first tool call after it was cancelled, and the others at once.
fn late(server: Server) -> io::Result<()> {
    let server = server.open()?;
    let first = server.until("tools/call")?;
    server.until("notifications/cancelled")?;
    server.result(&first, &text("late"))?;
    server.serve(answer)
}

/// Prints noise between the messages.
fn garbage(server: Server) -> io::Result<()> {
    let noise = || {
        let mut output = io::stdout().lock();
        output.write_all(b"Listening on stdio...\n\n\xff\xfe\x00 not text\n{\"half\": \n")?;
        output.write_all(b"[]\n{}\nnull\n{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n")?;
        output.flush()
    };
    noise()?;
    let server = server.open()?;
    noise()?;
    while let Some(message) = server.next()? {
        noise()?;
        if message.id.is_some() {
            server.result(&message, &answer(&message))?;
        }
        noise()?;
    }
    Ok(())
}

/// Exits in the middle of its response.
fn half(server: Server) -> io::Result<()> {
    let server = server.open()?;
    let call = server.until("tools/call")?;
    let id = call.id.unwrap_or_default();
    let mut output = io::stdout().lock();
    write!(output, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"cont"#)?;
    output.flush()
}

/// Sends 17 MB without a line break, as a response or as noise.
fn flood(server: Server, of: &str) -> io::Result<()> {
    let server = server.open()?;
    let call = server.until("tools/call")?;
    let id = call.id.unwrap_or_default();
    let chunk = [b'x'; 1000];
    let mut output = io::stdout().lock();
    if of == "noise" {
        io::stderr().write_all(b"there is no end to this\n")?;
        loop {
            output.write_all(&chunk)?;
        }
    }
    let (begin, end) = match of {
        "early id" => (
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"text":""#),
            r#""}}"#.to_owned(),
        ),
        _ => (
            r#"{"result":{"text":""#.to_owned(),
            format!(r#""}},"jsonrpc":"2.0","id":{id}}}"#),
        ),
    };
    output.write_all(begin.as_bytes())?;
    for _ in 0..17_000 {
        output.write_all(&chunk)?;
    }
    output.write_all(end.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()?;
    drop(output);
    server.serve(answer)
}

/// Writes to stderr and exits at once.
fn exit(code: &str) -> io::Result<()> {
    io::stderr().write_all(b"starting\nDATABASE_URL is not set\n")?;
    process::exit(code.parse().unwrap_or(1))
}

/// Starts to read only when the test says so.
fn slow(server: Server, port: &str) -> io::Result<()> {
    connect(port)?.read_exact(&mut [0])?;
    server.open()?.serve(answer)
}

/// Answers the era probe only when the next request arrives.
fn late_probe(server: Server) -> io::Result<()> {
    let probe = server.until("server/discover")?;
    let initialize = server.until("initialize")?;
    server.refuse(&probe)?;
    server.result(&initialize, &initialized())?;
    server.open()?.serve(answer)
}

/// The same for the stateless era, which has no handshake.
fn late_discovery(server: Server) -> io::Result<()> {
    let probe = server.until("server/discover")?;
    let initialize = server.until("initialize")?;
    server.result(
        &probe,
        r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#,
    )?;
    server.refuse(&initialize)?;
    server.serve(answer)
}

/// Exits on the era probe, as some servers do on unknown requests.
fn probe_shy(server: Server) -> io::Result<()> {
    let first = server.must()?;
    if first.method != "initialize" {
        io::stderr().write_all(b"unknown method\n")?;
        process::exit(1);
    }
    server.result(&first, &initialized())?;
    server.open()?.serve(answer)
}

/// Returns a result whose text is the caller's nonce.
fn said(message: &Message) -> String {
    let nonce = &message.nonce;
    format!(r#"{{"content":[{{"type":"text","text":"{nonce}"}}]}}"#)
}

/// Answers most requests with the caller's nonce, and sometimes misbehaves in
/// one of the other ways. For long runs, at random: `seed` selects the
/// sequence.
fn flaky(server: Server, seed: &str) -> io::Result<()> {
    let mut chance = u64::from(process::id()) ^ seed.parse::<u64>().unwrap_or_default();
    let server = server.open()?;
    let mut kept: Option<Message> = None;
    while let Some(message) = server.next()? {
        if message.id.is_none() {
            continue;
        }
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let text = said(&message);
        match (chance >> 33) % 20_000 {
            0 => process::exit(3),
            1 => server.line(r#"{"jsonrpc":"2.0","id":"#)?,
            2..=20 => server.line("warning: something is off")?,
            21..=60 => {}
            61..=100 => server.refuse(&message)?,
            101..=140 => kept = Some(message),
            141..=160 => {
                server.result(&message, &text)?;
                server.result(&message, &text)?;
            }
            161 => server.line(&"x".repeat(17_000_000))?,
            _ => server.result(&message, &text)?,
        }
        if let Some(late) = kept.take_if(|_| chance >> 62 == 0) {
            server.result(&late, &said(&late))?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn forks(_server: Server, _port: &str) -> io::Result<()> {
    Err(io::Error::other(
        "process groups are not supported on this platform",
    ))
}

/// Has a child that ignores SIGTERM, and does not exit when its input ends.
/// Both hold the socket as long as they live.
#[cfg(unix)]
fn forks(server: Server, port: &str) -> io::Result<()> {
    let mut socket = connect(port)?;
    let held = std::os::fd::OwnedFd::from(socket.try_clone()?);
    let mut child = Command::new("sh")
        .args(["-c", "trap '' TERM; echo ready >&2; exec sleep 900"])
        .stdin(process::Stdio::from(held))
        .stdout(process::Stdio::null())
        .stderr(process::Stdio::piped())
        .spawn()?;
    if let Some(stderr) = &mut child.stderr {
        // From here on it ignores SIGTERM.
        stderr.read_exact(&mut [0; 6])?;
    }
    writeln!(socket, "{} {}", process::id(), child.id())?;
    server.open()?.serve(answer)?;
    park()
}

/// Exits on a tool call, and leaves a child that holds its output.
fn abandons(server: Server) -> io::Result<()> {
    let server = server.open()?;
    let child = Command::new("sleep").arg("900").spawn()?;
    server.until("tools/call")?;
    writeln!(io::stderr(), "left {} behind", child.id())?;
    process::exit(5)
}

/// Writes a lot to stderr before it answers, and more before it exits.
fn chatty(server: Server) -> io::Result<()> {
    let server = server.open()?;
    let call = server.until("tools/call")?;
    let line = [b'e'; 999];
    for _ in 0..1000 {
        io::stderr().write_all(&line)?;
        io::stderr().write_all(b"\n")?;
    }
    server.result(&call, &answer(&call))?;
    server.until("tools/call")?;
    io::stderr().write_all(b"the last line\n")?;
    process::exit(7)
}

/// Returns the working directory and the environment of the process.
fn variables(_message: &Message) -> String {
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    text(&names.collect::<Vec<_>>().join(","))
}

fn surroundings(_message: &Message) -> String {
    let folder = env::current_dir().unwrap_or_default();
    let seen = env::var("BOWLINE_TEST_SEEN").unwrap_or_default();
    let inherited = env::var_os("PATH").is_some();
    let arguments: Vec<String> = env::args().skip(2).collect();
    text(&format!(
        "{}|{seen}|{inherited}|{}",
        folder.display(),
        arguments.join(",")
    ))
}

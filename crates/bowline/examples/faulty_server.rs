//! A server that misbehaves, for the tests: `faulty_server <mode> [argument]`.
//!
//! It knows just enough of the protocol to be talked to, and reads only what
//! this toolkit writes: the id and the method of a message are found by their
//! text. Whatever waits here waits for the test, never for a time.

use std::{
    env,
    io::{self, BufRead as _, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpStream},
    process::{self, Command},
    thread,
    time::{Duration, Instant},
};

/// When a forgotten process ends by itself.
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
        other => Err(io::Error::other(format!("there is no mode {other:?}"))),
    }
}

/// The standard streams, one message a line.
struct Server;

/// What a message is, as far as this server cares.
struct Message {
    id: Option<String>,
    method: String,
    /// What the caller knows its call by, if it said so.
    nonce: String,
}

impl Server {
    fn new() -> Self {
        Self
    }

    /// The next message; none at the end of the input.
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

    /// The next message, which must be there.
    fn must(&self) -> io::Result<Message> {
        let end = || io::Error::other("the input ended too early");
        self.next()?.ok_or_else(end)
    }

    /// Waits for a message of this method.
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

/// Says its process id where a client can read it.
fn initialized() -> String {
    let pid = process::id();
    format!(
        r#"{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}},"logging":{{}}}},"serverInfo":{{"name":"faulty","version":"1"}},"instructions":"{pid}"}}"#
    )
}

fn text(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// Tools say which request they answer.
fn answer(message: &Message) -> String {
    text(message.id.as_deref().unwrap_or_default())
}

/// Does nothing, without reading, until it is killed.
fn park() -> io::Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < FORGOTTEN {
        thread::park_timeout(FORGOTTEN);
    }
    Ok(())
}

/// Its standard streams are a socket of the test's.
fn relay(port: &str) -> io::Result<()> {
    let mut socket = connect(port)?;
    let mut from_test = socket.try_clone()?;
    thread::spawn(move || {
        // However it ends, the end of the socket is the end of the process.
        let _ = carry(&mut from_test, &mut io::stdout().lock());
        process::exit(0)
    });
    carry(&mut io::stdin().lock(), &mut socket)?;
    socket.shutdown(Shutdown::Both)
}

/// Copies by hand: `io::copy` would splice, and a splice from a socket keeps
/// the pipe locked while it waits, against which no reader is safe.
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

/// Never answers a tool call, and says when it has seen 64.
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

/// Answers the first tool call when it was given up, and the others at once.
fn late(server: Server) -> io::Result<()> {
    let server = server.open()?;
    let first = server.until("tools/call")?;
    server.until("notifications/cancelled")?;
    server.result(&first, &text("late"))?;
    server.serve(answer)
}

/// Prints what is not for the client between all that is.
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

/// Ends in the middle of its answer.
fn half(server: Server) -> io::Result<()> {
    let server = server.open()?;
    let call = server.until("tools/call")?;
    let id = call.id.unwrap_or_default();
    let mut output = io::stdout().lock();
    write!(output, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"cont"#)?;
    output.flush()
}

/// Answers with 17 MB and no line end: of an answer, or of noise.
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

/// Says something and ends at once.
fn exit(code: &str) -> io::Result<()> {
    io::stderr().write_all(b"starting\nDATABASE_URL is not set\n")?;
    process::exit(code.parse().unwrap_or(1))
}

/// Starts to listen only when the test says so.
fn slow(server: Server, port: &str) -> io::Result<()> {
    connect(port)?.read_exact(&mut [0])?;
    server.open()?.serve(answer)
}

/// Answers the question for the era only when it is asked the next one.
fn late_probe(server: Server) -> io::Result<()> {
    let probe = server.until("server/discover")?;
    let initialize = server.until("initialize")?;
    server.refuse(&probe)?;
    server.result(&initialize, &initialized())?;
    server.open()?.serve(answer)
}

/// The same of the stateless era, where there is no handshake.
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

/// Ends when it is asked for its era, as some servers do with what they do not
/// know.
fn probe_shy(server: Server) -> io::Result<()> {
    let first = server.must()?;
    if first.method != "initialize" {
        io::stderr().write_all(b"unknown method\n")?;
        process::exit(1);
    }
    server.result(&first, &initialized())?;
    server.open()?.serve(answer)
}

/// A result whose text is the caller's nonce.
fn said(message: &Message) -> String {
    let nonce = &message.nonce;
    format!(r#"{{"content":[{{"type":"text","text":"{nonce}"}}]}}"#)
}

/// Answers most requests, with the caller's nonce in the text; and now and then
/// does one of the other things that a server can do. For long runs, so
/// that chance decides: `seed` makes it another one.
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
    Err(io::Error::other("there are no process groups here"))
}

/// Has a child that does not end when asked to, and does not end itself when
/// its input does. Both hold the socket for as long as they live.
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
        // Now it is deaf to what is coming.
        stderr.read_exact(&mut [0; 6])?;
    }
    writeln!(socket, "{} {}", process::id(), child.id())?;
    server.open()?.serve(answer)?;
    park()
}

/// Ends at a tool call, and leaves a child that holds its output.
fn abandons(server: Server) -> io::Result<()> {
    let server = server.open()?;
    let child = Command::new("sleep").arg("900").spawn()?;
    server.until("tools/call")?;
    writeln!(io::stderr(), "left {} behind", child.id())?;
    process::exit(5)
}

/// Says a lot on its standard error before it answers, and more before it
/// ends.
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

/// Tools say where the process lives and with what.
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

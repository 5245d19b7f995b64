//! Hostile clients over raw sockets.

use std::{
    collections::BTreeSet,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    figures::{Chance, Tally},
    pace::{HOSTILE_SHARE, Pace},
};

/// The number of hostile clients at a time.
const ATTACKERS: usize = 8;

/// The arguments of the honest tool.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Said {
    /// The message to return.
    pub(crate) message: String,
}

/// The arguments of a tool that requires unique items.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Set {
    /// The items.
    pub(crate) items: BTreeSet<u64>,
}

/// Attacks until its standard input closes, and then prints what was done.
pub(crate) async fn run_all(port: u16, seed: u64) {
    let mut chance = Chance::new(seed);
    let (tally, pace) = (Tally::default(), Arc::new(Pace::new(HOSTILE_SHARE)));
    let mut attackers = JoinSet::new();
    for _ in 0..ATTACKERS {
        let chance = Chance::new(chance.next());
        attackers.spawn(run(port, chance, tally.clone(), Arc::clone(&pace)));
    }
    let told_to_end = || io::copy(&mut io::stdin(), &mut io::sink());
    let _ = tokio::task::spawn_blocking(told_to_end).await;
    attackers.shutdown().await;
    tally.print();
}

/// Runs one attack after another, from its own addresses.
async fn run(port: u16, mut chance: Chance, tally: Tally, pace: Arc<Pace>) {
    loop {
        pace.rest_async().await;
        let from = Ipv4Addr::new(127, 0, 0, 2 + u8::try_from(chance.below(4)).unwrap_or(0));
        let attacker = Attacker { from, port };
        let (name, trick) = *chance.of(&TRICKS);
        let done = timeout(Duration::from_secs(20), attacker.run(trick, &mut chance)).await;
        let how = match done {
            Ok(Ok(())) => "done",
            Ok(Err(_)) => "cut off",
            Err(_) => "timed out",
        };
        tally.count(&format!("{name}: {how}"));
        sleep(Duration::from_millis(50)).await;
    }
}

#[derive(Clone, Copy)]
enum Trick {
    Openings,
    LargeOpenings,
    SlowBodies,
    SlowHeads,
    WrongItems,
    ManyItems,
    Abandoned,
    UnreadStreams,
    UnreadProgress,
    PaddedEnvelopes,
    LoopingAnswers,
    BadHeads,
    Deep,
    DuplicateKeys,
    Subscriptions,
    Forged,
}

const TRICKS: [(&str, Trick); 16] = [
    ("sessions that are never used", Trick::Openings),
    ("large openings", Trick::LargeOpenings),
    ("slow bodies", Trick::SlowBodies),
    ("slow heads", Trick::SlowHeads),
    ("many wrong items", Trick::WrongItems),
    ("many items that must differ", Trick::ManyItems),
    ("abandoned calls", Trick::Abandoned),
    ("streams that nobody reads", Trick::UnreadStreams),
    ("progress that nobody reads", Trick::UnreadProgress),
    ("padded envelopes", Trick::PaddedEnvelopes),
    ("conversations that go in circles", Trick::LoopingAnswers),
    ("bad heads", Trick::BadHeads),
    ("deep arguments", Trick::Deep),
    ("duplicate keys", Trick::DuplicateKeys),
    ("many subscriptions", Trick::Subscriptions),
    ("forged states", Trick::Forged),
];

struct Attacker {
    from: Ipv4Addr,
    port: u16,
}

impl Attacker {
    async fn run(&self, trick: Trick, chance: &mut Chance) -> io::Result<()> {
        match trick {
            Trick::Openings => self.openings(50, 10).await,
            Trick::LargeOpenings => self.openings(10, 60_000).await,
            Trick::SlowBodies => self.slow(100, &head(4_000_000, "")).await,
            Trick::SlowHeads => self.slow(100, "POST /mcp HTTP/1.1\r\nx: ").await,
            Trick::WrongItems => {
                self.call("set", &json!({"items": vec!["x"; 200_000]}))
                    .await
            }
            Trick::ManyItems => {
                let items: Vec<_> = (0..80_000_u32).collect();
                self.call("set", &json!({"items": items})).await
            }
            Trick::Abandoned => self.abandoned(chance.below(20)).await,
            Trick::UnreadStreams => self.unread(20).await,
            Trick::UnreadProgress => self.unread_progress(20).await,
            Trick::PaddedEnvelopes => self.padded(20).await,
            Trick::LoopingAnswers => self.looping(30).await,
            Trick::BadHeads => self.bad_heads().await,
            Trick::Deep => {
                let deep = "[".repeat(2_000) + &"]".repeat(2_000);
                self.raw_call(&format!(r#"{{"items":{deep}}}"#)).await
            }
            Trick::DuplicateKeys => {
                let members = vec![r#""items":[]"#; 20_000].join(",");
                self.raw_call(&format!("{{{members}}}")).await
            }
            Trick::Subscriptions => self.subscriptions(200).await,
            Trick::Forged => self.forged(chance.next()).await,
        }
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((self.from, 0)))?;
        socket
            .connect(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)))
            .await
    }

    /// Sends a message and reads the beginning of the response.
    async fn post(&self, body: &str, headers: &str) -> io::Result<String> {
        let mut socket = self.connect().await?;
        socket
            .write_all(head(body.len(), headers).as_bytes())
            .await?;
        socket.write_all(body.as_bytes()).await?;
        let mut answer = vec![0; 4096];
        let length = socket.read(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
    }

    async fn openings(&self, count: usize, padding: usize) -> io::Result<()> {
        let body = initialize(padding);
        for _ in 0..count {
            self.post(&body, "").await?;
        }
        Ok(())
    }

    /// Starts many requests, and sends a byte of each from time to time.
    async fn slow(&self, count: usize, beginning: &str) -> io::Result<()> {
        let mut sockets = Vec::new();
        for _ in 0..count {
            let mut socket = self.connect().await?;
            socket.write_all(beginning.as_bytes()).await?;
            sockets.push(socket);
        }
        for _ in 0..5 {
            for socket in &mut sockets {
                socket.write_all(b"x").await?;
            }
            sleep(Duration::from_secs(1)).await;
        }
        Ok(())
    }

    async fn call(&self, tool: &str, arguments: &Value) -> io::Result<()> {
        let body = call(tool, &arguments.to_string());
        self.post(&body, &mirrored(tool)).await.map(drop)
    }

    async fn raw_call(&self, arguments: &str) -> io::Result<()> {
        self.post(&call("set", arguments), &mirrored("set"))
            .await
            .map(drop)
    }

    /// Makes slow calls and disconnects.
    async fn abandoned(&self, count: usize) -> io::Result<()> {
        let body = call("slow", "{}");
        for _ in 0..count {
            let mut socket = self.connect().await?;
            socket
                .write_all(head(body.len(), &mirrored("slow")).as_bytes())
                .await?;
            socket.write_all(body.as_bytes()).await?;
        }
        Ok(())
    }

    async fn unread(&self, count: usize) -> io::Result<()> {
        let opened = self.post(&initialize(10), "").await?;
        let session = session_of(&opened).unwrap_or_default();
        let mut sockets = Vec::new();
        for _ in 0..count {
            let mut socket = self.connect().await?;
            let request = format!(
                "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\
                 mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n\r\n"
            );
            socket.write_all(request.as_bytes()).await?;
            sockets.push(socket);
        }
        sleep(Duration::from_secs(2)).await;
        Ok(())
    }

    /// Makes calls whose progress is streamed, and does not read it.
    async fn unread_progress(&self, count: usize) -> io::Result<()> {
        let mut body: Value = serde_json::from_str(&call("chatty", "{}"))?;
        body["params"]["_meta"]["progressToken"] = json!(1);
        let body = body.to_string();
        let mut sockets = Vec::new();
        for _ in 0..count {
            let mut socket = self.connect().await?;
            let head = head(body.len(), &mirrored("chatty"));
            socket.write_all(head.as_bytes()).await?;
            socket.write_all(body.as_bytes()).await?;
            sockets.push(socket);
        }
        sleep(Duration::from_secs(2)).await;
        Ok(())
    }

    /// Sends small messages in large envelopes, in a session.
    async fn padded(&self, count: usize) -> io::Result<()> {
        let opened = self.post(&initialize(10), "").await?;
        let session = session_of(&opened).unwrap_or_default();
        let headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n");
        let padding = "x".repeat(200_000);
        for number in 0..count {
            let body =
                json!({"jsonrpc": "2.0", "id": number, "padding": padding, "method": "ping"});
            self.post(&body.to_string(), &headers).await?;
        }
        Ok(())
    }

    /// Sends the first answer of a conversation over and over.
    async fn looping(&self, count: usize) -> io::Result<()> {
        let mut body: Value = serde_json::from_str(&call("ask", "{}"))?;
        let capabilities = "io.modelcontextprotocol/clientCapabilities";
        body["params"]["_meta"][capabilities] = json!({"elicitation": {"form": {}}});
        let asked = self.post(&body.to_string(), &mirrored("ask")).await?;
        let result = asked.find("{\"").map_or("", |at| &asked[at..]);
        let result = result.lines().next().unwrap_or_default();
        let result: Value = serde_json::from_str(result).unwrap_or_default();
        let result = &result["result"];
        let questions = result["inputRequests"].as_object();
        let answers = questions.into_iter().flat_map(|all| all.keys());
        let accept = json!({"action": "accept", "content": {"confirmed": true}});
        let answers: serde_json::Map<_, _> =
            answers.map(|key| (key.clone(), accept.clone())).collect();
        body["params"]["inputResponses"] = Value::Object(answers);
        body["params"]["requestState"] = result["requestState"].clone();
        for _ in 0..count {
            self.post(&body.to_string(), &mirrored("ask")).await?;
        }
        Ok(())
    }

    async fn bad_heads(&self) -> io::Result<()> {
        let long = format!("POST /mcp HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(100_000));
        for head in [
            "POST /mcp HTTP/1.1\nhost: 127.0.0.1\n\n",
            "POST http://elsewhere/mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
            "\u{0}\u{1}\u{2}\r\n\r\n",
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n",
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: gzip\r\n\r\n",
            &long,
        ] {
            let mut socket = self.connect().await?;
            socket.write_all(head.as_bytes()).await?;
            let _ = socket.read(&mut [0; 512]).await?;
        }
        Ok(())
    }

    async fn subscriptions(&self, count: usize) -> io::Result<()> {
        let opened = self.post(&initialize(10), "").await?;
        let session = session_of(&opened).unwrap_or_default();
        let headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n");
        for number in 0..count {
            let params = json!({"uri": format!("test:///{number}")});
            let body = json!({"jsonrpc": "2.0", "id": number, "method": "resources/subscribe", "params": params});
            self.post(&body.to_string(), &headers).await?;
        }
        Ok(())
    }

    /// Sends a round of a conversation that does not exist.
    async fn forged(&self, noise: u64) -> io::Result<()> {
        let mut body: Value = serde_json::from_str(&call("slow", "{}"))?;
        body["params"]["requestState"] = json!(format!("{noise:x}").repeat(100));
        body["params"]["inputResponses"] = json!({"a": {"action": "accept"}});
        self.post(&body.to_string(), &mirrored("slow"))
            .await
            .map(drop)
    }
}

/// Returns the headers a call of this tool needs on the newest revision.
fn mirrored(tool: &str) -> String {
    format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n")
}

fn head(length: usize, headers: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {length}\r\n\r\n"
    )
}

fn initialize(padding: usize) -> String {
    let info = json!({"name": "x".repeat(padding), "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

fn call(tool: &str, arguments: &str) -> String {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{meta}}}}}"#
    )
}

fn session_of(answer: &str) -> Option<&str> {
    let lines = answer.lines();
    let mut ids = lines.filter_map(|line| line.strip_prefix("mcp-session-id: "));
    ids.next().map(str::trim)
}

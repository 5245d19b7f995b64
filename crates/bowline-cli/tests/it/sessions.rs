//! No session is left behind, however the command ends.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

use serde_json::{Value, json};

use crate::rig::Rig;

/// How long something may take before the test says that it hangs.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A server over HTTP that counts its sessions.
#[derive(Clone)]
struct Counting {
    port: u16,
    sessions: Arc<Mutex<Sessions>>,
    /// A call has come that is left waiting.
    hanging: Arc<(Mutex<bool>, Condvar)>,
}

#[derive(Clone, Default, Debug)]
struct Sessions {
    opened: Vec<String>,
    ended: Vec<String>,
}

impl Counting {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let counting = Self {
            port: listener.local_addr().expect("it is bound").port(),
            sessions: Arc::default(),
            hanging: Arc::default(),
        };
        let serving = counting.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                // A client that goes away is nothing to complain of.
                thread::spawn(move || serving.talk(&stream));
            }
        });
        counting
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    #[cfg(unix)]
    fn wait_for_hanging(&self) {
        let (hangs, changed) = &*self.hanging;
        let hangs = hangs.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(hangs, PATIENCE, |hangs| !*hangs);
        let (_hangs, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "the call does not come");
    }

    fn sessions(&self) -> Sessions {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.clone()
    }

    fn talk(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        loop {
            let (mut length, mut session, mut verb) = (0, String::new(), String::new());
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(());
                }
                let line = line.trim_end();
                match line.split_once(": ") {
                    _ if line.is_empty() => break,
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.parse().unwrap_or_default();
                    }
                    Some((name, value)) if name.eq_ignore_ascii_case("mcp-session-id") => {
                        value.clone_into(&mut session);
                    }
                    Some(_) => {}
                    None => verb = line.split(' ').next().unwrap_or_default().to_owned(),
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            let message = serde_json::from_slice(&body).unwrap_or(Value::Null);
            if let Some(reply) = self.reply(&verb, &session, &message) {
                stream.write_all(reply.as_bytes())?;
            }
        }
    }

    /// The whole answer; none where the request is left waiting.
    fn reply(&self, verb: &str, session: &str, message: &Value) -> Option<String> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if verb == "DELETE" {
            sessions.ended.push(session.to_owned());
            return Some(answer(200, "", ""));
        }
        let text = match message["method"].as_str() {
            None => return Some(answer(405, "", "")),
            Some("server/discover") => return Some(answer(400, "", "")),
            Some("initialize") => {
                let id = format!("session-{}", sessions.opened.len() + 1);
                sessions.opened.push(id.clone());
                let result = json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "counting", "version": "1"},
                });
                let header = format!("mcp-session-id: {id}\r\n");
                return Some(answer(200, &header, &result_of(message, &result)));
            }
            Some("tools/call") if message["params"]["name"] == "hang" => {
                let (hangs, changed) = &*self.hanging;
                *hangs.lock().unwrap_or_else(PoisonError::into_inner) = true;
                changed.notify_all();
                return None;
            }
            Some("tools/call") => result_of(
                message,
                &json!({"content": [{"type": "text", "text": "hi"}]}),
            ),
            Some("tools/list") => {
                let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
                result_of(message, &json!({"tools": [tool("greet"), tool("hang")]}))
            }
            Some("ping") => result_of(message, &json!({})),
            Some(_) if message["id"].is_null() => return Some(answer(202, "", "")),
            Some(_) => json!({"jsonrpc": "2.0", "id": message["id"],
                "error": {"code": -32601, "message": "no such method"}})
            .to_string(),
        };
        Some(answer(200, "", &text))
    }
}

fn result_of(message: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
}

fn answer(status: u16, header: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{header}\r\n{body}"
    )
}

#[cfg(unix)]
#[test]
fn a_session_is_ended_by_those_who_are_told_to_end() {
    let rig = Rig::empty();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let server = Counting::start();
        let url = server.url();
        let mut command = rig.command(&["call", &url, "hang"]);
        let child = command.spawn().expect("it starts");
        server.wait_for_hanging();
        let sent = std::process::Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("it starts").success());
        let ran = crate::rig::finish(child);
        assert_eq!(ran.code, Some(code), "{signal}: {ran:?}");
        let sessions = server.sessions();
        assert_eq!(sessions.opened, ["session-1"], "{signal}");
        assert_eq!(sessions.ended, sessions.opened, "{signal}");
    }
}

#[test]
fn every_session_that_was_opened_is_ended() {
    let server = Counting::start();
    let url = server.url();
    let rig = Rig::empty();
    rig.configure(&json!({"mcpServers": {"counted": {"url": url}}}));
    let commands: [(&[&str], bool); 9] = [
        (&["list", &url], true),
        (&["ping", &url], true),
        (&["call", "counted.greet"], true),
        (&["call", "counted.nothing"], false),
        (&["call", "counted.hang", "--timeout", "300ms"], false),
        (&["raw", &url, "no/such"], false),
        (&["status"], true),
        (&["list"], true),
        (&["doctor", &url], true),
    ];
    for (args, succeeds) in commands {
        let before = server.sessions().opened.len();
        let ran = rig.run(args);
        assert_eq!(ran.code == Some(0), succeeds, "{args:?}: {ran:?}");
        let mut sessions = server.sessions();
        assert!(sessions.opened.len() > before, "{args:?} opens a session");
        sessions.opened.sort();
        sessions.ended.sort();
        assert_eq!(sessions.ended, sessions.opened, "{args:?}");
    }
}

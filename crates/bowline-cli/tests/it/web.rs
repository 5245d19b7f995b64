//! A web server of the test's own, which answers as the test says.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use serde_json::{Value, json};

/// What was asked.
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The head, as it came.
    pub(crate) head: String,
    /// The message, where there is one.
    pub(crate) message: Value,
}

/// An answer: a status, further headers, and a body.
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    pub(crate) headers: &'static str,
    pub(crate) body: String,
}

impl Answer {
    /// A refusal, in plain words.
    pub(crate) fn refuse(status: &'static str, body: &str) -> Self {
        Self {
            status,
            headers: "Content-Type: text/plain\r\n",
            body: body.to_owned(),
        }
    }

    /// The result of a request.
    pub(crate) fn result(asked: &Asked, result: &Value) -> Self {
        let id = &asked.message["id"];
        Self {
            status: "200 OK",
            headers: "Content-Type: application/json\r\n",
            body: json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
        }
    }
}

/// Serves on a free port, for as long as the tests run. Gives the address.
pub(crate) fn serve(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    let address = listener.local_addr().expect("it is bound");
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || talk(&stream, &*answer));
        }
    });
    format!("http://{address}/mcp")
}

/// Serves a session in an older revision, with tools, and leaves all but the
/// opening to the test.
pub(crate) fn serve_session(rest: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> String {
    serve(move |asked| {
        if asked.method != "POST" {
            return Answer::refuse("405 Method Not Allowed", "");
        }
        match asked.message["method"].as_str() {
            Some("server/discover") => Answer::refuse("400 Bad Request", "what is that?"),
            Some("initialize") => Answer::result(
                asked,
                &json!({
                    "protocolVersion": asked.message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
                    "serverInfo": {"name": "web", "version": "1"},
                }),
            ),
            Some(name) if name.starts_with("notifications/") => Answer::refuse("202 Accepted", ""),
            Some("ping") => Answer::result(asked, &json!({})),
            _ => rest(asked),
        }
    })
}

fn talk(stream: &TcpStream, answer: &dyn Fn(&Asked) -> Answer) {
    let mut lines = BufReader::new(stream);
    while let Some(asked) = read(&mut lines) {
        let Answer {
            status,
            headers,
            body,
        } = answer(&asked);
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n");
        let mut stream = stream;
        if stream
            .write_all(format!("{head}{body}").as_bytes())
            .is_err()
        {
            return;
        }
    }
}

fn read(lines: &mut BufReader<&TcpStream>) -> Option<Asked> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, length)| length.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    lines.read_exact(&mut body).ok()?;
    Some(Asked {
        method: head.split(' ').next().unwrap_or_default().to_owned(),
        message: serde_json::from_slice(&body).unwrap_or_default(),
        head,
    })
}

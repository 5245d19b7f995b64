//! The answers of our server, made before anybody asks. A test compares them
//! with what it does answer.

/// An answer, with `@` where the number of the request stands.
#[derive(Clone, Copy)]
pub(super) struct Canned {
    /// Whether it is a stream; then each piece is an event.
    pub(super) stream: bool,
    pub(super) pieces: &'static [&'static str],
}

impl Canned {
    const fn json(pieces: &'static [&'static str; 1]) -> Self {
        let stream = false;
        Self { stream, pieces }
    }

    const fn stream(pieces: &'static [&'static str]) -> Self {
        let stream = true;
        Self { stream, pieces }
    }
}

macro_rules! content {
    () => {
        concat!(
            r#""content":[{"type":"text","text":""#,
            "0123456789012345678901234567890123456789",
            "0123456789012345678901234567890123456789",
            r#"01234567890123456789"}]"#,
        )
    };
}

macro_rules! modern {
    () => {
        concat!(
            r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"complete","#,
            content!(),
            r#","_meta":{"io.modelcontextprotocol/serverInfo":"#,
            r#"{"name":"bench","version":"1.0.0"}}}}"#,
        )
    };
}

macro_rules! session {
    () => {
        concat!(r#"{"jsonrpc":"2.0","id":@,"result":{"#, content!(), "}}")
    };
}

macro_rules! progress {
    () => {
        concat!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":"#,
            r#"{"progressToken":@,"progress":1,"total":2}}"#,
        )
    };
}

/// To a call outside of sessions.
pub(super) const MODERN: Canned = Canned::json(&[modern!()]);
/// To one that tells its progress.
pub(super) const MODERN_STREAM: Canned = Canned::stream(&[
    concat!("data: ", progress!(), "\n\n"),
    concat!("data: ", modern!(), "\n\n"),
]);
/// To a call in a session.
pub(super) const SESSION: Canned = Canned::json(&[session!()]);
/// To one that tells its progress.
pub(super) const SESSION_STREAM: Canned = Canned::stream(&[
    "id: 0123456789abcdef-1-0\nretry: 1000\ndata: \n\n",
    concat!("id: 0123456789abcdef-1-1\ndata: ", progress!(), "\n\n"),
    concat!("id: 0123456789abcdef-1-2\ndata: ", session!(), "\n\n"),
]);
/// To those who want to know who we are.
pub(super) const DISCOVER: Canned = Canned::json(&[concat!(
    r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"complete","#,
    r#""supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"#,
    r#""capabilities":{"tools":{"listChanged":true},"logging":{}},"ttlMs":0,"#,
    r#""cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":"#,
    r#"{"name":"bench","version":"1.0.0"}}}}"#,
)]);
/// To those who open a session.
pub(super) const INITIALIZE: Canned = Canned::json(&[concat!(
    r#"{"jsonrpc":"2.0","id":@,"result":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{"tools":{"listChanged":true},"logging":{}},"#,
    r#""serverInfo":{"name":"bench","version":"1.0.0"}}}"#,
)]);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
    };

    use super::super::{TEXT, limit_server, ours_server};

    /// Sends a request to be answered on a connection that closes then.
    async fn ask(host: &str, headers: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(host).await.expect("a server");
        let body = body.to_string();
        let length = body.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {headers}Content-Length: {length}\r\n\r\n{body}"
        );
        let sent = stream.write_all(request.as_bytes()).await;
        sent.expect("the server reads");
        let mut answer = String::new();
        let read = stream.read_to_string(&mut answer).await;
        read.expect("the server answers");
        answer
    }

    /// All that is asked, and without what is never the same twice.
    async fn all_answers(host: &str) -> Vec<String> {
        let info = json!({"name": "bench", "version": "1.0.0"});
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 5,
        });
        let modern = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: ";
        let request = |method: &str, params: Value| {
            let mut request = json!({"jsonrpc": "2.0", "id": 5, "method": method});
            request["params"] = params;
            request
        };
        let mut answers = Vec::new();
        for tool in ["echo", "tell"] {
            let headers = format!("{modern}tools/call\r\nMcp-Name: {tool}\r\n");
            let params = json!({"name": tool, "arguments": {"message": TEXT}, "_meta": meta});
            answers.push(ask(host, &headers, &request("tools/call", params)).await);
        }
        let headers = format!("{modern}server/discover\r\n");
        let discover = request("server/discover", json!({"_meta": meta}));
        answers.push(ask(host, &headers, &discover).await);
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        let opened = ask(host, "", &request("initialize", params)).await;
        let session = opened
            .lines()
            .find(|line| line.starts_with("mcp-session-id"));
        let headers = format!(
            "{}\r\nMcp-Protocol-Version: 2025-11-25\r\n",
            session.expect("a session")
        );
        answers.push(opened);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        answers.push(ask(host, &headers, &initialized).await);
        for tool in ["echo", "tell"] {
            let params = json!({
                "name": tool, "arguments": {"message": TEXT}, "_meta": {"progressToken": 5},
            });
            answers.push(ask(host, &headers, &request("tools/call", params)).await);
        }
        answers
            .iter()
            .map(|answer| without_chance(answer))
            .collect()
    }

    fn without_chance(answer: &str) -> String {
        let lines = answer
            .split('\n')
            .filter(|line| !line.starts_with("date: "));
        let lines = lines.map(|line| match line.split_once(": ") {
            Some((name @ ("id" | "mcp-session-id"), value)) => {
                format!("{name}: {}", "x".repeat(value.len()))
            }
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[tokio::test]
    async fn the_limit_answers_the_bytes_that_ours_answers() {
        let ours = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let limit = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let [our_host, limit_host] =
            [&ours, &limit].map(|listener| listener.local_addr().expect("an address").to_string());
        tokio::spawn(ours_server::serve(ours));
        tokio::spawn(limit_server::serve(limit));
        let (expected, got) = (all_answers(&our_host).await, all_answers(&limit_host).await);
        assert_eq!(expected, got);
        assert!(
            expected
                .iter()
                .filter(|answer| answer.contains(TEXT))
                .count()
                == 4
        );
    }
}

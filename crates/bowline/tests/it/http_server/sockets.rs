//! Over real sockets: connections that are slow, large, broken or many, and
//! the end of a listener.

use std::{net::SocketAddr, time::Duration};

use bowline::server::{
    Service,
    http::{ClientLimits, DEFAULT_ADDRESS, HttpOptions, HttpService},
};
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};

use super::{raw::Connection, rig::initialize, tools::workshop};

struct Server {
    http: HttpService,
    address: SocketAddr,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Server {
    async fn start(service: &Service, options: HttpOptions) -> Self {
        let http = service.http(options);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn({
            let http = http.clone();
            async move { http.serve(listener).await }
        });
        Self {
            http,
            address,
            serving,
        }
    }

    async fn connect(&self) -> Connection {
        Connection::to(self.address).await
    }
}

fn echo(message: &str) -> serde_json::Value {
    json!({"name": "echo", "arguments": {"message": message}})
}

#[tokio::test]
async fn a_connection_serves_many_requests_of_both_eras() {
    let it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    let mut connection = server.connect().await;
    let opened = connection.post("/", &[], &initialize("2025-11-25")).await;
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    let session = [("mcp-session-id", &*id)];
    for number in 0..20 {
        let answer = connection.ask(&[], "tools/call", &echo("hi")).await;
        assert_eq!(answer.json()["result"]["content"][0]["text"], "hi");
        let ping = json!({"jsonrpc": "2.0", "id": number, "method": "ping"});
        let answer = connection
            .post("/any/path", &session, &ping.to_string())
            .await;
        assert_eq!(answer.json()["id"], number);
    }
    server.serving.abort();
}

#[tokio::test]
async fn leaving_calls_a_stateless_request_off_and_not_a_sessions() {
    let mut it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    let mut session = server.connect().await;
    let opened = session.post("/", &[], &initialize("2025-11-25")).await;
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}});
    session
        .send("/", &[("mcp-session-id", &id)], &call.to_string())
        .await;
    it.started().await;
    drop(session);
    // While it waits for an answer, and while it reads a stream.
    for tool in ["wait", "tell_and_wait"] {
        let mut ours = server.connect().await;
        let params = json!({"name": tool, "_meta": {"progressToken": 1}});
        ours.send_stateless(&[], "tools/call", &params).await;
        it.started().await;
        if tool == "tell_and_wait" {
            assert_eq!(ours.head().await.unwrap().status, 200);
            ours.chunk().await.unwrap();
        }
        drop(ours);
        it.dropped().await;
    }
    assert_eq!(it.alive(), 1, "the session's goes on");
    it.open();
    it.dropped().await;
    server.serving.abort();
}

#[tokio::test]
async fn heads_that_dawdle_are_cut_off() {
    let it = workshop();
    let options = HttpOptions {
        header_timeout: Duration::from_millis(50),
        ..HttpOptions::default()
    };
    let server = Server::start(&it.service, options).await;
    for head in ["", "POST", "POST / HTTP/1.1\r\nhost: localhost\r\nx: "] {
        let mut connection = server.connect().await;
        connection.write(head.as_bytes()).await;
        connection.closed().await;
    }
    server.serving.abort();
}

#[tokio::test]
async fn bodies_that_dawdle_are_refused() {
    let it = workshop();
    let options = HttpOptions {
        body_timeout: Duration::from_millis(50),
        ..HttpOptions::default()
    };
    let server = Server::start(&it.service, options).await;
    let mut connection = server.connect().await;
    let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                accept: */*\r\ncontent-length: 100\r\n\r\n{";
    connection.write(head.as_bytes()).await;
    assert_eq!(connection.reply().await.unwrap().status, 408);
    server.serving.abort();
}

#[tokio::test]
async fn who_does_not_read_is_closed_and_holds_nothing() {
    let mut it = workshop();
    let options = HttpOptions {
        max_connections: 1,
        write_timeout: Duration::from_millis(50),
        ..HttpOptions::default()
    };
    let server = Server::start(&it.service, options).await;
    // An answer that is too large for the buffers in between, and a stream.
    let mut deaf = server.connect().await;
    let params = json!({"name": "large", "arguments": {"size": 15_000_000}});
    deaf.send_stateless(&[], "tools/call", &params).await;
    let mut deaf_too = server.connect().await;
    let params = json!({"name": "pour", "_meta": {"progressToken": 1}});
    deaf_too.send_stateless(&[], "tools/call", &params).await;
    it.started().await;
    it.dropped().await;
    // There is room for one that reads.
    let mut next = server.connect().await;
    let answer = next.ask(&[], "tools/call", &echo("next")).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "next");
    drop((deaf, deaf_too));
    server.serving.abort();
}

#[tokio::test]
async fn large_heads_and_bodies_are_refused_by_what_they_announce() {
    let it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    let mut connection = server.connect().await;
    let head = format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\nx: {}",
        "y".repeat(70_000)
    );
    connection.write(head.as_bytes()).await;
    let refused = connection.reply().await;
    assert!(refused.is_none_or(|reply| reply.status == 431));

    let mut connection = server.connect().await;
    let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                accept: */*\r\ncontent-length: 104857600\r\n\r\n";
    connection.write(head.as_bytes()).await;
    assert_eq!(connection.reply().await.unwrap().status, 413);

    // And by what they are, where they announce nothing.
    let mut connection = server.connect().await;
    let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                accept: */*\r\ntransfer-encoding: chunked\r\n\r\n";
    connection.write(head.as_bytes()).await;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let mut sent = 0;
    while sent < 100 * 1024 * 1024 && connection.write(chunk.as_bytes()).await {
        sent += 0x10000;
    }
    assert!(sent < 50 * 1024 * 1024, "the server takes no more");
    server.serving.abort();
}

#[tokio::test]
async fn what_is_no_http_is_closed() {
    let it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"GET\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\n",
    ] {
        let mut connection = server.connect().await;
        connection.write(bytes).await;
        connection.closed().await;
    }
    // A name with a line end in it is no header, and smuggles nothing.
    let mut connection = server.connect().await;
    let head = b"POST / HTTP/1.1\r\nhost: localhost\r\nmcp-session-id: a\rb: c\r\n\r\n";
    connection.write(head).await;
    let reply = connection.reply().await;
    assert!(reply.is_none_or(|reply| reply.status == 400));
    server.serving.abort();
}

/// What a POST begins with that lists the tools, up to its own headers.
const HEAD: &str = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                    accept: application/json, text/event-stream\r\n";

#[tokio::test]
async fn what_a_proxy_may_read_differently_is_not_served() {
    let it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    let ping = "content-length: 2\r\n\r\n{}";
    let bare = format!("{HEAD}{ping}").replace("\r\n", "\n");
    let both = format!("{HEAD}transfer-encoding: chunked\r\n{ping}");
    let twice = format!("{HEAD}content-length: 2\r\n{ping}");
    for refused in [&bare, &both, &twice] {
        let mut connection = server.connect().await;
        connection.write(refused.as_bytes()).await;
        assert!(connection.reply().await.is_none(), "{refused:?}");
    }
    // Behind another request, too, and what follows it is not served either.
    let mut connection = server.connect().await;
    let pipelined = format!("{HEAD}{ping}{bare}{HEAD}{ping}");
    connection.write(pipelined.as_bytes()).await;
    let mut served = 0;
    while connection.reply().await.is_some() {
        served += 1;
    }
    assert!(served <= 1, "{served}");
    let mut connection = server.connect().await;
    let pipelined = format!("{HEAD}{ping}{HEAD}{ping}");
    connection.write(pipelined.as_bytes()).await;
    for _ in 0..2 {
        assert_eq!(connection.reply().await.expect("an answer").status, 400);
    }
    server.serving.abort();
}

#[tokio::test]
async fn a_large_head_is_refused_even_if_it_comes_at_once() {
    let it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    for size in [70_000, 100_000, 120_000] {
        let mut connection = server.connect().await;
        let long = "y".repeat(size);
        let head = format!("{HEAD}x: {long}\r\ncontent-length: 2\r\n\r\n{{}}");
        connection.write(head.as_bytes()).await;
        let refused = connection.reply().await;
        assert!(refused.is_none_or(|reply| reply.status == 431), "{size}");
    }
    server.serving.abort();
}

#[tokio::test]
async fn the_host_in_the_target_counts() {
    let it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    for (target, host, status) in [
        ("http://evil.example.com/", "localhost", 403),
        ("http://localhost/", "evil.example.com", 403),
        ("http://u@localhost/", "localhost", 403),
        ("http://localhost/", "LOCALHOST", 400),
        ("/", "localhost", 400),
    ] {
        let mut connection = server.connect().await;
        let head = HEAD.replace("POST /", &format!("POST {target}"));
        let head = head.replace("host: localhost", &format!("host: {host}"));
        let request = format!("{head}content-length: 2\r\n\r\n{{}}");
        connection.write(request.as_bytes()).await;
        let reply = connection.reply().await.expect("an answer");
        assert_eq!(reply.status, status, "{target} {host}");
    }
    server.serving.abort();
}

#[tokio::test]
async fn one_address_has_no_more_connections_than_it_may() {
    let it = workshop();
    let options = HttpOptions {
        client_limits: ClientLimits {
            max_connections: 2,
            ..ClientLimits::default()
        },
        ..HttpOptions::default()
    };
    let server = Server::start(&it.service, options).await;
    let (mut one, mut two) = (server.connect().await, server.connect().await);
    for connection in [&mut one, &mut two] {
        connection.ask(&[], "tools/call", &echo("hi")).await;
    }
    let mut three = server.connect().await;
    three.closed().await;
    drop(one);
    two.ask(&[], "tools/call", &echo("still there")).await;
    // It is free once the server has noticed.
    loop {
        let mut next = server.connect().await;
        next.send_stateless(&[], "tools/call", &echo("next")).await;
        if next.reply().await.is_some_and(|reply| reply.status == 200) {
            break;
        }
    }
    server.serving.abort();
}

/// What the fuzz target `request_framing` does to the lines alone, for the whole
/// server: requests with some bytes changed. It answers or closes, and goes on.
#[tokio::test]
async fn damaged_requests_harm_nobody() {
    let it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    let whole = format!(
        "{HEAD}mcp-session-id: x\r\ntransfer-encoding: chunked\r\n\r\n\
         2\r\n{{\"\r\n10\r\njsonrpc\":\"2.0\"}}   \r\n0\r\n\r\n"
    );
    let mut state: u64 = 16;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    for _ in 0..300 {
        let mut bytes = whole.as_bytes().to_vec();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] = u8::try_from(next(256)).expect("a byte"),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"\r\n:; \0\xff{"[next(8)]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let mut connection = server.connect().await;
        connection.write(&bytes).await;
        connection.finish().await;
        connection.closed().await;
    }
    let mut connection = server.connect().await;
    let answer = connection.ask(&[], "tools/call", &echo("hi")).await;
    assert_eq!(answer.status, 200);
    server.serving.abort();
}

#[tokio::test]
async fn connections_over_the_limit_wait() {
    let it = workshop();
    let options = HttpOptions {
        max_connections: 1,
        ..HttpOptions::default()
    };
    let server = Server::start(&it.service, options).await;
    let mut one = server.connect().await;
    one.ask(&[], "tools/call", &echo("one")).await;
    let mut two = server.connect().await;
    two.send_stateless(&[], "tools/call", &echo("two")).await;
    let answer = one.ask(&[], "tools/call", &echo("again")).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "again");
    drop(one);
    let answer = two.reply().await.unwrap();
    assert_eq!(answer.json()["result"]["content"][0]["text"], "two");
    server.serving.abort();
}

#[tokio::test]
async fn a_listener_that_is_stopped_lets_its_requests_finish_and_returns() {
    let mut it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    let mut idle = server.connect().await;
    idle.ask(&[], "tools/call", &echo("hi")).await;
    let mut busy = server.connect().await;
    busy.send_stateless(&[], "tools/call", &json!({"name": "wait"}))
        .await;
    it.started().await;
    let mut listening = server.connect().await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    listening
        .send_stateless(&[], "subscriptions/listen", &params)
        .await;
    listening.head().await.unwrap();
    listening.chunk().await.unwrap();
    server.http.stop(Duration::from_secs(1000));
    idle.closed().await;
    let end = listening.chunk().await.unwrap();
    assert!(end.starts_with(b"data: ") && !end.is_empty());
    assert!(
        listening.chunk().await.unwrap().is_empty(),
        "the end of the stream"
    );
    listening.closed().await;
    assert!(!server.serving.is_finished(), "one is still at work");
    it.open();
    let answer = busy.reply().await.unwrap();
    assert_eq!(answer.json()["result"]["content"][0]["text"], "waited");
    busy.closed().await;
    server.serving.await.unwrap().unwrap();
    let refused = tokio::net::TcpStream::connect(server.address).await;
    assert!(refused.is_err(), "nobody listens there any more");
}

#[tokio::test]
async fn a_listener_does_not_wait_longer_than_the_grace() {
    let mut it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    let mut busy = server.connect().await;
    busy.send_stateless(&[], "tools/call", &json!({"name": "wait"}))
        .await;
    it.started().await;
    server.http.stop(Duration::from_millis(20));
    let answer = busy.reply().await.unwrap();
    assert_eq!(
        answer.json()["error"]["message"],
        "The server is shutting down"
    );
    it.dropped().await;
    server.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn stopping_the_server_stops_its_listeners() {
    let it = workshop();
    let server = Server::start(&it.service, HttpOptions::default()).await;
    let mut connection = server.connect().await;
    connection.ask(&[], "tools/call", &echo("hi")).await;
    it.service.stop(Duration::from_secs(1));
    connection.closed().await;
    server.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn one_line_serves() {
    let it = workshop();
    let service = it.service.clone();
    let (sender, bound) = tokio::sync::oneshot::channel();
    let http = service.http(HttpOptions::default());
    let serving = tokio::spawn(async move {
        http.bind_and_serve("127.0.0.1:0", |address| sender.send(address).unwrap())
            .await
    });
    let mut connection = Connection::to(bound.await.unwrap()).await;
    let answer = connection.ask(&[], "tools/call", &echo("hi")).await;
    assert_eq!(answer.status, 200);
    it.service.stop(Duration::ZERO);
    serving.await.unwrap().unwrap();
    assert!(it.service.serve_http("256.0.0.1:1").await.is_err());
    assert_eq!(DEFAULT_ADDRESS.to_string(), "127.0.0.1:8000");
    drop(it.service.serve_http(DEFAULT_ADDRESS));
    let nowhere = bowline::Server::new("plain", "1").serve_http("256.0.0.1:1");
    assert!(nowhere.await.is_err());
}

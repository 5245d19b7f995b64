//! Servers that do harm: nonsense, bombs, and more than anybody can hold.

use std::time::Duration;

use bowline::{
    Client,
    client::ClientBuilder,
    proto::{Reason, client::ConnectionErrorKind},
    transport::{Http, HttpConfigError, HttpLimits},
};
use serde_json::json;

use super::rig::{Hit, Part, Reply, Rig, builder, handshake, stateless, stateless_reply, within};

const MIB: usize = 1024 * 1024;

/// A builder that takes messages of up to 1 MiB.
fn small() -> ClientBuilder {
    builder().max_frame_size(MIB)
}

/// Calls a tool that does harm, and then one that does not.
async fn call(client: &Client, tool: &str) -> bowline::Error {
    let harm = within(async { client.tools().call(tool, json!({})).await }).await;
    let error = harm.expect_err("it does harm");
    let fine = within(async { client.tools().call("fine", json!({})).await }).await;
    fine.unwrap_or_else(|after| panic!("{tool} harms others: {error}, then {after}"));
    error
}

fn tool(hit: &Hit) -> String {
    let name = hit.json()["params"]["name"].as_str().map(str::to_owned);
    name.unwrap_or_default()
}

#[tokio::test]
async fn what_is_no_message_ends_its_own_call_only() {
    let rig = stateless(|hit| {
        let good = hit.result(&json!({"content": []}));
        let mut broken = good.clone().into_bytes();
        broken.truncate(broken.len() - 2);
        let latin = [good.as_bytes(), b"\xff\xfe"].concat();
        let inside = good.replace("content", "cont\u{0}ent").into_bytes();
        let inside: Vec<u8> = inside
            .into_iter()
            .map(|it| if it == 0 { 0xff } else { it })
            .collect();
        match &*tool(hit) {
            "not utf-8 after" => Some(Reply::json(latin)),
            "not utf-8 inside" => Some(Reply::json(inside)),
            "not utf-8 in a stream" => {
                let event = [b"data: ", &inside[..], b"\n\n"].concat();
                Some(Reply::sse([Part::Bytes(event)]))
            }
            "empty" => Some(Reply::json("")),
            "not whole" => Some(Reply::json(broken)),
            "html" => Some(Reply::new(200, "text/html", "<html>")),
            "no type" => Some(Reply::new(200, "", good)),
            "latin-1" => Some(Reply::new(200, "application/json; charset=latin1", good)),
            "accepted" => Some(Reply::status(202)),
            "another id" => Some(Reply::json(good.replace("\"id\":", "\"id\":9"))),
            "compressed" => {
                Some(Reply::json(vec![0x1f, 0x8b, 8, 0]).with("content-encoding", "gzip"))
            }
            _ => None,
        }
    })
    .await;
    let client = small().connect(rig.http()).await.expect("it connects");
    for tool in [
        "not utf-8 after",
        "not utf-8 inside",
        "not utf-8 in a stream",
        "empty",
        "not whole",
        "html",
        "no type",
        "latin-1",
        "accepted",
        "another id",
        "compressed",
    ] {
        call(&client, tool).await;
    }
    assert_eq!(client.health().sessions, 1);
}

#[tokio::test]
async fn bodies_and_events_over_the_limit_end_their_own_call_only() {
    let rig = stateless(|hit| {
        let filler = vec![b'x'; 64 * 1024];
        let opening = br#"{"jsonrpc":"2.0","id":1,"result":""#.to_vec();
        match &*tool(hit) {
            "announced" => Some(Reply::json("{").with("content-length", "104857600")),
            "chunked" => Some(Reply::parts(
                "application/json",
                [Part::Bytes(opening), Part::Endless(filler)],
            )),
            "endless line" => Some(Reply::sse([Part::text("data: "), Part::Endless(filler)])),
            "endless event" => Some(Reply::sse([Part::Endless(b"data: x\n".repeat(1000))])),
            "endless field" => Some(Reply::sse([Part::Endless(filler)])),
            "endless id" => Some(Reply::sse([Part::text("id: "), Part::Endless(filler)])),
            "endless comments" => Some(Reply::sse([Part::Endless(b": ping\n\n".repeat(1000))])),
            _ => None,
        }
    })
    .await;
    let mut limits = HttpLimits::default();
    limits.max_comment_bytes = 256 * 1024;
    let http = rig.http().limits(limits);
    let client = small().connect(http).await.expect("it connects");
    for tool in ["announced", "chunked", "endless line", "endless event"] {
        let error = call(&client, tool).await;
        assert_eq!(error.reason(), Reason::OversizedFrame, "{tool}: {error}");
    }
    for tool in ["endless field", "endless id", "endless comments"] {
        let error = call(&client, tool).await;
        let kind = error.connection_error().expect("a cause").kind().clone();
        assert!(
            matches!(kind, ConnectionErrorKind::ProtocolViolation(_)),
            "{tool}: {error}"
        );
    }
    assert_eq!(client.health().sessions, 1);
}

#[tokio::test]
async fn the_stream_that_a_server_speaks_on_unasked_is_bounded_too() {
    let rig = handshake(|hit| {
        let filler = vec![b'x'; 64 * 1024];
        let bomb = || Reply::sse([Part::text("id: 1\ndata: "), Part::Endless(filler)]);
        (hit.rpc() == "GET").then(bomb)
    })
    .await;
    let client = small().connect(rig.http()).await.expect("it connects");
    let gets = rig.until("GET", 3).await;
    assert_eq!(gets[2].header("last-event-id"), None);
    client.tools().list().await.expect("the session is there");
    assert_eq!(client.health().sessions, 1);
    client.stop().await;
}

#[tokio::test]
async fn the_bodies_of_errors_are_bounded() {
    let rig = stateless(|hit| {
        let filler = vec![b'x'; 64 * 1024];
        let endless = || Reply::parts("text/plain", [Part::Endless(filler)]);
        (tool(hit) == "endless").then(|| endless().and_status(500))
    })
    .await;
    let client = small().connect(rig.http()).await.expect("it connects");
    let error = call(&client, "endless").await;
    let kind = error.connection_error().expect("a cause").kind().clone();
    assert!(
        matches!(kind, ConnectionErrorKind::Status { status: 500, .. }),
        "{kind:?}"
    );
}

/// Counted on this thread, while the server has one of its own.
#[test]
fn a_hundred_megabytes_are_not_held() {
    let (told, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let rig = Rig::start(|hit| {
                let much = Part::Repeated(vec![b'x'; 64 * 1024], 1600);
                match &*tool(hit) {
                    "body" => Reply::parts("application/json", [Part::text("\""), much]),
                    "event" => Reply::sse([Part::text("data: "), much]),
                    "comments" => Reply::sse([Part::text(": "), much]),
                    "error" => Reply::parts("application/json", [much]).and_status(400),
                    _ => stateless_reply(hit),
                }
            })
            .await;
            told.send(rig.port).expect("somebody waits");
            std::future::pending::<()>().await;
        });
    });
    let port = port
        .recv_timeout(Duration::from_secs(60))
        .expect("a server");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    let http = Http::new(&format!("http://127.0.0.1:{port}/mcp")).expect("a URL");
    let client = runtime.block_on(async { small().connect(http).await.expect("it connects") });
    for tool in ["body", "event", "comments", "error"] {
        let counted = allocation_counter::measure(|| {
            runtime.block_on(async { call(&client, tool).await });
        });
        let most = u64::try_from(8 * MIB).expect("it fits");
        assert!(
            counted.bytes_max < most,
            "{tool}: {} bytes",
            counted.bytes_max
        );
    }
    runtime.block_on(client.stop());
}

#[tokio::test]
async fn nothing_breaks_out_of_a_header() {
    let rig = stateless(|_| None).await;
    let client = rig.client().await;
    for name in ["a\r\nx-evil: 1", "a\nb", "\0", " edge ", "=?base64?x?="] {
        client
            .tools()
            .call(name, json!({}))
            .await
            .expect("an answer");
        let hits = rig.named("tools/call");
        let hit = hits.last().expect("a call");
        assert_eq!(hit.header("x-evil"), None);
        let sent = hit.header("mcp-name").expect("the name");
        assert!(
            sent.starts_with("=?base64?") && sent.ends_with("?="),
            "{sent}"
        );
        assert_eq!(hit.json()["params"]["name"], name);
    }
}

#[test]
fn settings_that_cannot_be_sent_are_refused() {
    let http = || Http::new("http://localhost/mcp").expect("a URL");
    for value in ["a\r\nx-evil: 1", "a\nb", "\0", "\u{7f}"] {
        let problem = http().header("x-key", value).expect_err("refused");
        let name = "x-key".into();
        assert_eq!(problem, HttpConfigError::InvalidHeaderValue { name });
        let problem = http().bearer(value).expect_err("refused");
        assert!(!problem.to_string().contains("evil"), "{problem}");
    }
    for name in ["", "a b", "a:b", "a\r\nb", "é"] {
        let problem = http().header(name, "x").expect_err("refused");
        assert_eq!(problem, HttpConfigError::InvalidHeaderName, "{name:?}");
    }
    for name in [
        "Mcp-Session-Id",
        "mcp-name",
        "Accept",
        "Content-Length",
        "last-event-id",
    ] {
        let problem = http().header(name, "x").expect_err("refused");
        assert!(
            matches!(problem, HttpConfigError::ReservedHeader { .. }),
            "{name}"
        );
    }
    for (url, problem) in [
        ("", HttpConfigError::InvalidUrl),
        ("localhost:3000", HttpConfigError::UnsupportedScheme),
        ("/mcp", HttpConfigError::InvalidUrl),
        ("file:///etc/passwd", HttpConfigError::UnsupportedScheme),
        (
            "http://user:hush@localhost/",
            HttpConfigError::CredentialsInUrl,
        ),
        ("http://user@localhost/", HttpConfigError::CredentialsInUrl),
    ] {
        let refused = Http::new(url).expect_err("refused");
        assert_eq!(refused, problem, "{url}");
        assert!(!refused.to_string().contains("hush"));
    }
}

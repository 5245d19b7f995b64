//! Servers that die, fall silent, or say what nobody can read.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bowline::{
    Client, Error,
    client::{Call, Notification},
    proto::{
        ErrorKind, Reason,
        client::{Backoff, ConnectionErrorKind, ConnectionState, Timeouts},
        revision::Era,
    },
    transport::{ChildProcess, ConnectionError, StderrPolicy},
};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpListener, sync::mpsc, task::JoinSet};

use super::{faulty, gone, kill, within};

/// A client that does not wait long before it dials again.
async fn connect(server: ChildProcess) -> Client {
    let connecting = builder().connect(server);
    let client = within("connecting", connecting).await;
    client.expect("the server opens")
}

fn builder() -> bowline::client::ClientBuilder {
    let backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(2), 0.0);
    Client::builder()
        .backoff(backoff.expect("it is sound"))
        .connect_timeout(Duration::from_secs(60))
}

async fn call(client: &Client) -> Result<String, Error> {
    let call = client.tools().call("any", json!({}));
    let call = call.map_call(Call::wait_for_connection);
    let result = within("a call", call.into_future()).await?;
    Ok(result.content[0].as_text().unwrap_or_default().to_owned())
}

fn pid(client: &Client) -> u32 {
    let server = client.server_info().expect("there was a session");
    let pid = server.instructions.as_deref().expect("it says its id");
    pid.parse().expect("it is a number")
}

#[tokio::test]
async fn killed_during_64_calls() {
    let client = connect(faulty("silent")).await;
    let mut notifications = client.subscribe_to_list_changes();
    let mut calls = JoinSet::new();
    for number in 0..64 {
        let client = client.clone();
        calls.spawn(async move { client.tools().call("any", json!({"n": number})).await });
    }
    let seen = within("all calls to arrive", notifications.next()).await;
    assert!(matches!(seen, Some(Notification::Log(_))), "{seen:?}");
    let first = pid(&client);
    kill(first, "KILL");
    let mut ended = 0;
    while let Some(call) = within("a call to end", calls.join_next()).await {
        let error = call.expect("no panic").expect_err("the server is dead");
        assert_eq!(error.kind(), ErrorKind::Transport);
        let killed = ConnectionErrorKind::Exited {
            code: None,
            signal: Some(9),
        };
        assert_eq!(error.connection_error().expect("a cause").kind(), &killed);
        assert!(
            format!("{error:#}").contains("terminated by signal 9"),
            "{error}"
        );
        ended += 1;
    }
    assert_eq!(ended, 64);
    let mut health = client.watch_health();
    let back =
        health.wait_for(|health| health.sessions == 2 && health.state == ConnectionState::Ready);
    drop(within("the next session", back).await.expect("it lives"));
    assert_ne!(pid(&client), first);
    client.stop().await;
}

#[tokio::test]
async fn one_that_answers_after_the_timeout() {
    let client = connect(faulty("late")).await;
    let first = client.tools().call("first", json!({}));
    let error = within(
        "the deadline",
        first.timeout(Duration::from_millis(50)).into_future(),
    );
    assert!(error.await.expect_err("no answer yet").is_timeout());
    let second = call(&client).await.expect("an answer");
    assert_ne!(second, "late", "the next call gets its own answer");
    assert_eq!(client.health().sessions, 1, "on the same connection");
}

#[tokio::test]
async fn one_that_prints_garbage() {
    let client = connect(faulty("garbage")).await;
    for _ in 0..10 {
        call(&client).await.expect("an answer");
    }
    assert_eq!(client.health().sessions, 1, "garbage is passed over");
}

#[tokio::test]
async fn one_that_ends_after_half_a_frame() {
    let client = connect(faulty("half")).await;
    let error = call(&client).await.expect_err("half an answer");
    assert_eq!(error.kind(), ErrorKind::Transport);
    let exited = ConnectionErrorKind::Exited {
        code: Some(0),
        signal: None,
    };
    assert_eq!(error.connection_error().expect("a cause").kind(), &exited);
}

#[tokio::test]
async fn one_that_answers_with_17_megabytes_loses_that_call_only() {
    for of in ["early id", "late id"] {
        let client = connect(faulty("flood").arg(of)).await;
        let (first, second) = tokio::join!(call(&client), call(&client));
        let (large, other) = match first {
            Err(_) => (first, second),
            Ok(_) => (second, first),
        };
        let error = large.expect_err("too much");
        assert_eq!(error.reason(), Reason::OversizedFrame, "{of}: {error}");
        assert!(
            format!("{error:#}").contains("exceeds the limit of 16777216"),
            "{error}"
        );
        other.expect("the other call is answered");
        call(&client).await.expect("and so is the next");
        assert_eq!(client.health().sessions, 1, "on the same connection");
    }
}

#[tokio::test]
async fn one_that_never_ends_its_line_is_hung_up_on() {
    let server = faulty("flood").arg("noise");
    let connecting = builder().max_frame_size(64 * 1024).connect(server);
    let client = within("connecting", connecting).await.expect("it opens");
    let first = pid(&client);
    let error = call(&client).await.expect_err("no answer");
    assert_eq!(error.kind(), ErrorKind::Transport, "{error}");
    let mut health = client.watch_health();
    let back = health.wait_for(|health| health.sessions == 2);
    drop(within("the next session", back).await.expect("it lives"));
    assert_ne!(pid(&client), first, "with another process");
    let fall = client.health().last_disconnect.expect("it fell");
    assert!(
        matches!(fall.kind(), ConnectionErrorKind::OversizedFrame { .. }),
        "{fall}"
    );
    assert_eq!(fall.detail(), Some("there is no end to this"));
}

#[tokio::test]
async fn one_that_does_not_open_in_time_is_quoted() {
    let script = "echo waiting for the database >&2; exec sleep 900";
    let server = ChildProcess::new("sh").args(["-c", script]);
    let client = builder()
        .connect_timeout(Duration::from_millis(100))
        .connect_in_background(server);
    let mut health = client.watch_health();
    // The first attempts may be over before it has said anything.
    let quoted = health.wait_for(|health| {
        let fall = health.last_disconnect.as_ref();
        fall.is_some_and(|fall| fall.detail().is_some())
    });
    let quoted = within("an attempt that tells", quoted).await;
    let fall = quoted
        .expect("it lives")
        .last_disconnect
        .clone()
        .expect("it fell");
    assert!(
        matches!(fall.kind(), ConnectionErrorKind::OpeningTimeout(_)),
        "{fall}"
    );
    assert_eq!(fall.detail(), Some("waiting for the database"));
    client.stop().await;
}

#[tokio::test]
async fn one_that_exits_at_once() {
    let connecting = builder().connect(faulty("exit").arg("3"));
    let error = within("connecting", connecting)
        .await
        .expect_err("it exits");
    let cause = error.connection_error().expect("a cause");
    let exited = ConnectionErrorKind::Exited {
        code: Some(3),
        signal: None,
    };
    assert_eq!(cause.kind(), &exited);
    assert_eq!(cause.detail(), Some("starting\nDATABASE_URL is not set"));
    assert_eq!(
        format!("{error:#}"),
        "not connected: the server process exited with code 3; \
         last stderr output: starting\nDATABASE_URL is not set",
    );
}

#[tokio::test]
async fn one_that_takes_long_to_start() {
    let gate = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = gate.local_addr().expect("it is bound").port();
    let client = builder().connect_in_background(faulty("slow").arg(port.to_string()));
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { call(&client).await }
    });
    let (mut server, _) = within("the process", gate.accept())
        .await
        .expect("it starts");
    let early = client.tools().call("now", json!({})).await;
    let early = early.expect_err("it is not ready");
    assert_eq!(early.kind(), ErrorKind::State);
    server.write_all(b"!").await.expect("it waits for this");
    let late = within("the call", waiting).await.expect("no panic");
    late.expect("those who wait are served");
    assert_eq!(client.health().consecutive_failures, 0);
}

#[tokio::test]
async fn one_that_answers_the_era_probe_late() {
    let mut timeouts = Timeouts::standard();
    timeouts.connect = Duration::from_secs(60);
    timeouts.probe = Duration::from_millis(20);
    for (mode, era) in [
        ("late-probe", Era::Handshake),
        ("late-discovery", Era::Stateless),
    ] {
        let connecting = Client::builder()
            .timeouts(timeouts.clone())
            .connect(faulty(mode));
        let client = within("connecting", connecting).await.expect("it opens");
        let server = client.server_info().expect("there is a session");
        assert_eq!(server.revision.rules().era, era, "{mode}");
        call(&client).await.expect("an answer");
        assert_eq!(client.health().sessions, 1);
    }
}

#[tokio::test]
async fn one_that_dies_of_the_era_probe() {
    let client = connect(faulty("probe-shy")).await;
    call(&client).await.expect("an answer");
    assert_eq!(client.health().consecutive_failures, 0);
}

/// Opens a session, closes its input, and says so.
const CLOSES_INPUT: &str = r#"
read -r probe
echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
read -r initialize
echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'
read -r initialized
exec 0<&-
echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"deaf"}}'
exec sleep 900
"#;

#[tokio::test]
async fn one_that_closes_its_input_and_lives() {
    let server = ChildProcess::new("sh").args(["-c", CLOSES_INPUT]);
    let client = builder().connect_in_background(server);
    let mut notifications = client.subscribe_to_list_changes();
    let deaf = within("its input to close", notifications.next()).await;
    assert!(matches!(deaf, Some(Notification::Log(_))), "{deaf:?}");
    let error = call(&client).await.expect_err("it hears nothing");
    assert_eq!(
        error.kind(),
        ErrorKind::Transport,
        "and no timeout: {error}"
    );
    let cause = error.connection_error().expect("a cause");
    assert_eq!(cause.kind(), &ConnectionErrorKind::Eof);
    client.stop().await;
}

#[tokio::test]
async fn one_that_leaves_a_child_behind_which_holds_its_output() {
    let client = connect(faulty("abandons")).await;
    let error = call(&client).await.expect_err("it ends");
    let cause = error.connection_error().expect("a cause");
    let exited = ConnectionErrorKind::Exited {
        code: Some(5),
        signal: None,
    };
    assert_eq!(cause.kind(), &exited);
    let tail = cause.detail().expect("it said whom it left");
    let left: u32 = tail
        .split_whitespace()
        .nth(1)
        .and_then(|pid| pid.parse().ok())
        .expect("by number");
    gone(&[left]).await;
}

#[tokio::test]
async fn one_that_says_a_lot_on_its_standard_error() {
    let (lines, mut heard) = mpsc::unbounded_channel();
    let listener = StderrPolicy::lines(move |line: &str| {
        let _ = lines.send(line.to_owned());
    });
    let client = connect(faulty("chatty").stderr(listener)).await;
    call(&client)
        .await
        .expect("nothing is in the way of the answer");
    let error = call(&client).await.expect_err("it ends");
    let cause = error.connection_error().expect("a cause");
    let tail = cause.detail().expect("it said something");
    assert!(tail.ends_with("the last line"), "{tail}");
    assert!(tail.len() <= 4096, "{} bytes", tail.len());
    for _ in 0..1000 {
        let line = within("a line", heard.recv()).await.expect("it was said");
        assert_eq!(line.len(), 999);
    }
    let last = within("a line", heard.recv()).await;
    assert_eq!(last.as_deref(), Some("the last line"));
}

#[tokio::test]
async fn a_listener_that_panics_costs_its_line_only() {
    let (lines, mut heard) = mpsc::unbounded_channel();
    let listener = StderrPolicy::lines(move |line: &str| {
        let is_first = lines.send(line.to_owned()).is_ok() && line.len() == 999;
        assert!(!is_first || FIRST.swap(true, Ordering::Relaxed), "no more");
    });
    let client = connect(faulty("chatty").stderr(listener)).await;
    call(&client)
        .await
        .expect("nothing is in the way of the answer");
    let error = call(&client).await.expect_err("it ends");
    let tail = error
        .connection_error()
        .and_then(ConnectionError::detail)
        .expect("it said something");
    assert!(tail.ends_with("the last line"), "{tail}");
    for _ in 0..1001 {
        within("a line", heard.recv()).await.expect("it was said");
    }
}

/// Whether the listener above has panicked.
static FIRST: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
#[tokio::test]
async fn standard_error_goes_where_it_is_wanted() {
    let ours = std::fs::read_link("/proc/self/fd/2").expect("there is one");
    let cases = [
        (StderrPolicy::Inherit, ours),
        (StderrPolicy::Discard, "/dev/null".into()),
    ];
    for (policy, expected) in cases {
        let client = connect(faulty("well").stderr(policy.clone())).await;
        let theirs = std::fs::read_link(format!("/proc/{}/fd/2", pid(&client)));
        assert_eq!(theirs.expect("it runs"), expected, "{policy:?}");
    }
    let connecting = builder().connect(faulty("exit").arg("3").stderr(StderrPolicy::Discard));
    let error = within("connecting", connecting)
        .await
        .expect_err("it exits");
    assert_eq!(
        error.connection_error().and_then(ConnectionError::detail),
        None
    );
}

#[tokio::test]
async fn a_command_that_is_not_there() {
    let nothing = ChildProcess::new("bowline-has-no-such-command");
    let error = within("connecting", Client::builder().connect(nothing)).await;
    let error = error.expect_err("there is nothing to start");
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert_eq!(error.reason(), Reason::ConnectionClosed);
    assert_eq!(
        format!("{error:#}"),
        "not connected: the server could not be reached: \
         the command \"bowline-has-no-such-command\" was not found \
         (is it installed and on PATH?)",
    );
}

#[tokio::test]
async fn settings_reach_the_process() {
    let folder = std::env::temp_dir();
    let folder = folder.canonicalize().expect("there is one");
    let server = faulty("surroundings")
        .args(["one", "two words"])
        .env("BOWLINE_TEST_SEEN", "yes")
        .current_dir(&folder);
    let client = connect(server.clone()).await;
    let seen = call(&client).await.expect("an answer");
    let expected = format!("{}|yes|true|one,two words", folder.display());
    assert_eq!(seen, expected);
    let client = connect(server.env_clear()).await;
    let seen = call(&client).await.expect("an answer");
    assert!(seen.contains("|yes|false|"), "only what was set: {seen}");
}

#[tokio::test]
async fn a_child_gets_what_it_needs_and_no_secrets() {
    async fn variables(server: ChildProcess) -> Vec<String> {
        let client = connect(server).await;
        let names = call(&client).await.expect("an answer");
        names.split(',').map(str::to_owned).collect()
    }
    // Cargo sets it, and it is nobody else's business.
    let secret = "CARGO_MANIFEST_DIR".to_owned();
    assert!(std::env::var_os(&secret).is_some(), "run this by cargo");
    let server = faulty("variables");
    let usual = variables(server.clone()).await;
    assert!(usual.contains(&"PATH".to_owned()), "{usual:?}");
    assert!(!usual.contains(&secret), "{usual:?}");
    let kept = variables(
        server
            .clone()
            .inherit_env_var(&secret)
            .inherit_env_var("NOT_THERE"),
    )
    .await;
    assert!(kept.contains(&secret), "{kept:?}");
    assert!(!kept.contains(&"NOT_THERE".to_owned()), "{kept:?}");
    let all = variables(server.clone().inherit_env()).await;
    assert!(all.contains(&secret), "{all:?}");
    let less = variables(server.inherit_env().env_remove(&secret)).await;
    assert!(!less.contains(&secret), "{less:?}");
}

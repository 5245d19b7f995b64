//! Servers that die in the middle of a session, and connections that come back.

use std::{
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    Client,
    client::{Call, ClientBuilder, Notification},
    proto::{
        client::{Backoff, ConnectionState},
        model::LogLevel,
        revision::Revision,
    },
    transport::{ChildProcess, ConnectionErrorKind, StderrPolicy},
};
use serde_json::json;

use super::rig::{Checked, Fault, Peer, await_notice, builder, node, script, text_of, within};
use crate::sync::lock;

/// A builder that does not wait long before it dials again.
fn eager() -> Result<ClientBuilder, Fault> {
    let backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(50), 0.0);
    Ok(builder().backoff(backoff.map_err(|error| format!("{error:?}"))?))
}

/// Waits for the second session.
async fn back(client: &Client) -> Checked {
    let mut health = client.watch_health();
    health
        .wait_for(|health| health.sessions == 2 && health.state == ConnectionState::Ready)
        .await?;
    Ok(())
}

#[tokio::test]
async fn a_server_that_exits_is_started_again() -> Checked {
    within(async {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let only = eager()?.revisions([revision]);
            let peer = Peer::open(only, script("highlevel_server.py")?).await?;
            let Err(error) = peer.tools().call("die", json!({"code": 3})).await else {
                return Err("the dead do not answer".into());
            };
            assert!(
                error.is_connection_error() && error.is_transient(),
                "{error}"
            );
            let cause = error.connection_error().ok_or("no cause")?;
            let exited = ConnectionErrorKind::Exited {
                code: Some(3),
                signal: None,
            };
            assert_eq!(cause.kind(), &exited);
            assert!(cause.detail().unwrap_or_default().contains("dying with 3"));
            let arguments = json!({"a": 1, "b": 1});
            let call = peer.tools().call("add", arguments);
            let result = call.map_call(Call::wait_for_connection).await?;
            assert!(text_of(&result).contains("\"total\": 2"));
            let health = peer.health();
            assert_eq!(health.sessions, 2);
            let fall = health
                .last_disconnect
                .as_ref()
                .map(|cause| cause.kind().clone());
            assert_eq!(fall, Some(exited));
            assert_eq!(peer.revision(), Some(revision));
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn subscriptions_without_a_handshake_are_restored() -> Checked {
    within(async {
        let only = eager()?.revisions([Revision::V2026_07_28]);
        let peer = Peer::open(only, script("highlevel_server.py")?).await?;
        let mut notices = peer.subscribe_to_list_changes();
        let _today = peer.resources().subscribe("note://today").await?;
        let died = peer.tools().call("die", json!({"code": 1})).await;
        assert!(died.is_err());
        let is_back = |notice: &Notification| {
            matches!(notice, Notification::Resubscribed { uris } if uris.len() == 1)
        };
        await_notice(&mut notices, is_back).await?;
        peer.text("write", json!({"name": "today", "text": "coil"}))
            .await?;
        let is_update = |notice: &Notification| matches!(notice, Notification::ResourceUpdated(_));
        await_notice(&mut notices, is_update).await?;
        peer.close().await
    })
    .await
}

/// A server from npm that tells its process id before it becomes the server.
fn telling(pids: &Arc<Mutex<Vec<String>>>) -> Result<ChildProcess, Fault> {
    // Only to learn that the peer is there; the shell starts it.
    let server = node("mcp-server-everything")?;
    let command = bowline::transport::Transport::describe(&server);
    let pids = Arc::clone(pids);
    let hear = move |line: &str| {
        if let Some(pid) = line.strip_prefix("pid ") {
            let mut pids = lock(&pids);
            pids.push(pid.to_owned());
        }
    };
    Ok(ChildProcess::new("sh")
        .args(["-c", "echo pid $$ >&2; exec \"$0\""])
        .arg(command)
        .stderr(StderrPolicy::lines(hear)))
}

#[tokio::test]
async fn a_server_that_is_killed_is_started_again_as_it_was() -> Checked {
    within(async {
        let pids = Arc::<Mutex<Vec<String>>>::default();
        let peer = Peer::open(eager()?, telling(&pids)?).await?;
        let mut notices = peer.subscribe_to_list_changes();
        peer.set_log_level(LogLevel::Debug).await?;
        let uri = "demo://resource/dynamic/text/1";
        let _subscribed = peer.resources().subscribe(uri).await?;
        let pid = lock(&pids)
            .first()
            .cloned()
            .ok_or("it did not tell its process id")?;
        assert!(Command::new("kill").args(["-KILL", &pid]).status()?.success());
        back(&peer).await?;
        let health = peer.health();
        let fall = health.last_disconnect.as_ref().map(|cause| cause.kind().clone());
        let killed = ConnectionErrorKind::Exited {
            code: None,
            signal: Some(9),
        };
        assert_eq!(fall, Some(killed));
        let is_back = |notice: &Notification| {
            matches!(notice, Notification::Resubscribed { uris } if uris.len() == 1)
        };
        await_notice(&mut notices, is_back).await?;
        assert_eq!(peer.frames.sent("logging/setLevel").len(), 2);
        peer.text("toggle-subscriber-updates", json!({})).await?;
        let is_update = |notice: &Notification| matches!(notice, Notification::ResourceUpdated(_));
        await_notice(&mut notices, is_update).await?;
        peer.close().await
    })
    .await
}

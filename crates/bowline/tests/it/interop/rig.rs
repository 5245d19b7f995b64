//! How the tests of this folder reach their peers, and what all of them check.

use std::{
    error,
    future::Future,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    Client,
    client::Observation,
    client::{ClientBuilder, Notification, Notifications},
    proto::{
        client::{TelemetryEvent, Timeouts},
        model::{CallToolResult, Tool},
        revision::Revision,
    },
    transport::ChildProcess,
};
use serde::Serialize;
use serde_json::Value;

use super::tap::{Frames, tapped};
use crate::sync::lock;

/// Far more than any test here takes: it is only there to end one that hangs.
const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) type Fault = Box<dyn error::Error + Send + Sync>;
pub(crate) type Checked = Result<(), Fault>;

/// Runs a test, but not for ever.
pub(crate) async fn within(test: impl Future<Output = Checked>) -> Checked {
    match tokio::time::timeout(PATIENCE, test).await {
        Ok(checked) => checked,
        Err(_) => Err(format!("not done after {PATIENCE:?}").into()),
    }
}

/// A server from npm.
pub(crate) fn node(name: &str) -> Result<ChildProcess, Fault> {
    Ok(ChildProcess::new(installed(
        "node/node_modules/.bin",
        name,
    )?))
}

/// A server from PyPI.
pub(crate) fn python(name: &str) -> Result<ChildProcess, Fault> {
    Ok(ChildProcess::new(installed("python/bin", name)?))
}

/// A server of ours on the Python SDK, from `peers/`.
pub(crate) fn script(name: &str) -> Result<ChildProcess, Fault> {
    let script = top().join("peers").join(name);
    if !script.exists() {
        return Err(format!("there is no {}", script.display()).into());
    }
    Ok(python("python")?.arg(script))
}

/// A server of ours on FastMCP, from `peers/`.
pub(crate) fn fastmcp(name: &str) -> Result<ChildProcess, Fault> {
    let script = top().join("peers").join(name);
    let python = installed("fastmcp/bin", "python")?;
    Ok(ChildProcess::new(python).arg(script))
}

/// A server of ours on rmcp, from `peers/rmcp`.
pub(crate) fn rmcp(name: &str) -> Result<ChildProcess, Fault> {
    Ok(ChildProcess::new(installed("rmcp/debug", name)?))
}

fn installed(folder: &str, name: &str) -> Result<PathBuf, Fault> {
    let path = top().join("target").join("peers").join(folder).join(name);
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("the peer {name} is missing: run cargo xtask peers").into())
    }
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A builder with patience for machines that have much else to do.
pub(crate) fn builder() -> ClientBuilder {
    let mut timeouts = Timeouts::standard();
    timeouts.connect = Duration::from_secs(120);
    timeouts.probe = Duration::from_secs(60);
    timeouts.resource = Duration::from_secs(60);
    timeouts.tool = Duration::from_secs(60);
    timeouts.other = Duration::from_secs(60);
    Client::builder()
        .client_info("bowline-interop", "0.0.1")
        .timeouts(timeouts)
}

/// A connection to a peer, with all that was on its wire.
pub(crate) struct Peer {
    client: Client,
    pub(crate) frames: Frames,
    complaints: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    pub(crate) async fn open(builder: ClientBuilder, process: ChildProcess) -> Result<Self, Fault> {
        let frames = Frames::default();
        let complaints = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&complaints);
        let observer = move |telemetry: &Observation| {
            if let TelemetryEvent::Violation { .. } | TelemetryEvent::UnknownResponse =
                telemetry.event
            {
                let mut seen = lock(&seen);
                seen.push(format!("{telemetry:?}"));
            }
        };
        let transport = tapped(process, frames.clone());
        let client = builder.observer(observer).connect(transport).await?;
        Ok(Self {
            client,
            frames,
            complaints,
        })
    }

    /// Stops, and checks that the client found nothing to complain of.
    pub(crate) async fn close(self) -> Checked {
        self.client.stop().await;
        let complaints = lock(&self.complaints);
        assert_eq!(*complaints, Vec::<String>::new(), "of a well-behaved peer");
        Ok(())
    }

    /// The revision that is spoken.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.client.server_info().map(|server| server.revision)
    }

    /// What the server calls itself, and its version.
    pub(crate) fn name(&self) -> String {
        let server = self.client.server_info();
        let info = server.and_then(|server| server.info.clone());
        info.map(|info| format!("{} {}", info.name, info.version))
            .unwrap_or_default()
    }

    pub(crate) async fn tool_names(&self) -> Result<Vec<String>, Fault> {
        let tools: Vec<Tool> = self.client.tools().list().await?;
        for tool in &tools {
            assert!(tool.input_schema.is_some(), "{} has a schema", tool.name);
        }
        Ok(tools.into_iter().map(|tool| tool.name).collect())
    }

    /// Calls a tool that must succeed; gives its texts.
    pub(crate) async fn text<A: Serialize>(&self, tool: &str, args: A) -> Result<String, Fault> {
        let result = self.client.tools().call(tool, args).await?;
        let text = text_of(&result);
        if result.is_error() {
            return Err(format!("{tool} failed: {text}").into());
        }
        Ok(text)
    }

    /// Calls a tool that must fail in its result; gives its texts.
    pub(crate) async fn failure<A: Serialize>(&self, tool: &str, args: A) -> Result<String, Fault> {
        let result = self.client.tools().call(tool, args).await?;
        assert!(result.is_error(), "{tool}: {result:?}");
        Ok(text_of(&result))
    }

    /// Calls a tool that must succeed; gives its structured result.
    pub(crate) async fn value<A: Serialize>(&self, tool: &str, args: A) -> Result<Value, Fault> {
        let result = self.client.tools().call(tool, args).await?;
        assert!(!result.is_error(), "{tool}: {result:?}");
        match &result.structured_content {
            Some(value) => Ok(value.decode()?),
            None => Err(format!("{tool} has no structured result").into()),
        }
    }
}

impl Deref for Peer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// The texts of a result, one below the other.
pub(crate) fn text_of(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    texts.collect::<Vec<_>>().join("\n")
}

/// Waits for a notification that is wanted; those before it are let go.
pub(crate) async fn await_notice(
    notices: &mut Notifications,
    wanted: impl Fn(&Notification) -> bool,
) -> Result<Notification, Fault> {
    while let Some(notice) = notices.next().await {
        if wanted(&notice) {
            return Ok(notice);
        }
    }
    Err("the notifications ended".into())
}

//! How the tests of this folder start drivers, and how they read their documents.

use std::{
    error,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, Command},
};

use crate::process::example;

/// More than a driver takes at most: it gives up by itself before this.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) type Fault = Box<dyn error::Error + Send + Sync>;
pub(crate) type Checked = Result<(), Fault>;

/// A client that nobody here wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sdk {
    TypeScript1,
    TypeScript2,
    Python2,
}

impl Sdk {
    /// Those that open with the handshake.
    pub(crate) const HANDSHAKE: [Self; 3] = [Self::TypeScript1, Self::TypeScript2, Self::Python2];
    /// Those that know the stateless era.
    pub(crate) const STATELESS: [Self; 2] = [Self::TypeScript2, Self::Python2];

    /// Runs a scenario against a server, which the driver starts unless it
    /// serves already. Gives the driver's document.
    pub(crate) async fn run(self, server: &Server, scenario: &Value) -> Result<Value, Fault> {
        let (program, driver) = match self {
            Self::TypeScript1 => (node("sdk")?, "ts1.mjs"),
            Self::TypeScript2 => (node("client")?, "ts2.mjs"),
            Self::Python2 => (installed("python/bin/python")?, "py2.py"),
        };
        let mut driver = Command::new(program)
            .arg(top().join("peers/clients").join(driver))
            .args(&server.line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut input = driver.stdin.take().ok_or("the driver has no input")?;
        input.write_all(scenario.to_string().as_bytes()).await?;
        drop(input);
        let end = tokio::time::timeout(PATIENCE, driver.wait_with_output());
        let output = end
            .await
            .map_err(|_| format!("{self:?}: not done after {PATIENCE:?}"))??;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("{self:?}: no document ({error}), {}: {said}", output.status).into()
        })
    }

    /// Runs a scenario that must come to its end without a fault, with every
    /// answer used and nothing to complain of.
    pub(crate) async fn run_cleanly(
        self,
        server: &Server,
        scenario: &Value,
    ) -> Result<Value, Fault> {
        let document = self.run(server, scenario).await?;
        if is_well(&document) {
            Ok(document)
        } else {
            Err(format!("{self:?}: {document:#}").into())
        }
    }
}

/// Whether a scenario came to its end as [`Sdk::run_cleanly`] wants it.
pub(crate) fn is_well(document: &Value) -> bool {
    document.get("error").is_none()
        && document["faults"] == json!([])
        && document["complaints"] == json!([])
        && document["left"] == json!({"elicit": 0, "sample": 0})
}

/// The command line of a server, or its URL while it serves.
pub(crate) struct Server {
    line: Vec<OsString>,
    /// Ends with this, where it was started here.
    process: Option<Child>,
}

impl Server {
    fn new(line: Vec<OsString>) -> Self {
        Self {
            line,
            process: None,
        }
    }

    /// A server that serves already.
    pub(crate) fn at(url: &str) -> Self {
        Self::new(vec![url.into()])
    }

    /// An example of this crate.
    pub(crate) fn example(name: &str, arguments: &[&str]) -> Self {
        let mut line = vec![example(name).into_os_string()];
        line.extend(arguments.iter().map(OsString::from));
        Self::new(line)
    }

    /// An example of this crate that serves over HTTP from now on.
    pub(crate) async fn example_over_http(name: &str) -> Result<Self, Fault> {
        let mut command = Command::new(example(name));
        command.arg("--http");
        Self::serving(command, str::to_owned).await
    }

    /// The server on the TypeScript SDK 2.x, which serves over HTTP from now on.
    pub(crate) async fn typescript_over_http() -> Result<Self, Fault> {
        let mut command = Command::new(node("server")?);
        command.arg(top().join("peers/servers/ts2_http.mjs"));
        Self::serving(command, |port| format!("http://127.0.0.1:{port}/mcp")).await
    }

    /// A server whose first line says where it is.
    async fn serving(mut command: Command, url: impl Fn(&str) -> String) -> Result<Self, Fault> {
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let words = process.stdout.take().ok_or("the server has no output")?;
        let mut lines = BufReader::new(words).lines();
        let place = tokio::time::timeout(PATIENCE, lines.next_line()).await??;
        let place = place.ok_or("the server does not say where it is")?;
        Ok(Self {
            line: vec![url(&place).into()],
            process: Some(process),
        })
    }

    /// Ends a server that serves: it must have served until now.
    pub(crate) async fn end(self) -> Checked {
        let mut process = self.process.ok_or("the driver has ended it")?;
        if let Some(status) = process.try_wait()? {
            return Err(format!("the server has gone already: {status}").into());
        }
        Ok(process.kill().await?)
    }

    /// A server from npm.
    pub(crate) fn node(name: &str) -> Result<Self, Fault> {
        let path = installed(&format!("node/node_modules/.bin/{name}"))?;
        Ok(Self::new(vec![path.into_os_string()]))
    }

    /// A server on the Python SDK, from `peers/`.
    pub(crate) fn script(name: &str) -> Result<Self, Fault> {
        let python = installed("python/bin/python")?;
        let script = top().join("peers").join(name);
        Ok(Self::new(vec![
            python.into_os_string(),
            script.into_os_string(),
        ]))
    }
}

/// The requests and notifications of a method that the client sent.
pub(crate) fn sent<'a>(document: &'a Value, method: &str) -> Vec<&'a Value> {
    with_method(document, "sent", method)
}

/// The requests and notifications of a method that the server sent.
pub(crate) fn received<'a>(document: &'a Value, method: &str) -> Vec<&'a Value> {
    with_method(document, "received", method)
}

fn with_method<'a>(document: &'a Value, direction: &str, method: &str) -> Vec<&'a Value> {
    let frames = document["frames"].as_array().into_iter().flatten();
    frames
        .map(|frame| &frame[direction])
        .filter(|message| message["method"] == method)
        .collect()
}

/// The first text in the result of an action, by its number.
pub(crate) fn text(document: &Value, action: usize) -> &str {
    let result = &document["done"][action]["result"];
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// Node.js, if the SDK's package is there for it to load.
fn node(package: &str) -> Result<PathBuf, Fault> {
    let folder = "node/node_modules/@modelcontextprotocol";
    installed(&format!("{folder}/{package}")).map(|_| "node".into())
}

pub(crate) fn installed(path: &str) -> Result<PathBuf, Fault> {
    let path = top().join("target/peers").join(path);
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("{} is missing: run cargo xtask peers", path.display()).into())
    }
}

pub(crate) fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

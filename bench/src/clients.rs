//! The two libraries behind one trait: connect, call, close.

use std::{future::Future, path::PathBuf, sync::Arc};

use bowline::{
    Client,
    transport::{ChildProcess, Memory},
};
use bowline_proto::model::ContentBlock;
use rmcp::{
    RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, JsonObject},
    service::RunningService,
    transport::TokioChildProcess,
};

use crate::server::{self, TEXT};

/// A connected client.
pub trait Caller: Clone + Send + Sync + 'static {
    /// Calls the tool `echo` once and looks at the answer.
    fn call(&self) -> impl Future<Output = ()> + Send;

    /// Ends the connection.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// The program of this crate with this name, next to the one that runs.
#[must_use]
pub fn sibling(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("this program has a path");
    let path = here.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        path.is_file(),
        "{name} is not built; `cargo xtask bench` builds everything",
    );
    path
}

/// The arguments of every call, made once.
fn arguments() -> Arc<JsonObject> {
    let mut arguments = JsonObject::new();
    arguments.insert("text".to_owned(), TEXT.into());
    Arc::new(arguments)
}

/// Bowline's client.
#[derive(Clone, Debug)]
pub struct Bowline {
    client: Client,
    arguments: Arc<JsonObject>,
}

impl Bowline {
    /// Connects to the server in a child process.
    pub async fn child() -> Self {
        let transport = ChildProcess::new(sibling("raw_server"));
        let client = Client::builder().connect(transport).await;
        Self::new(client.expect("the server is ours"))
    }

    /// Connects to the server in a task of this process.
    pub async fn memory() -> Self {
        let (transport, listener) = Memory::new();
        tokio::spawn(server::serve_memory(listener));
        let client = Client::builder().connect(transport).await;
        Self::new(client.expect("the server is ours"))
    }

    fn new(client: Client) -> Self {
        Self {
            client,
            arguments: arguments(),
        }
    }
}

impl Caller for Bowline {
    async fn call(&self) {
        let call = self.client.tools().call("echo", &*self.arguments);
        let result = call.await.expect("the server answers");
        let [ContentBlock::Text(text)] = result.content.as_slice() else {
            panic!("not what the server answers");
        };
        assert_eq!(text.text.len(), TEXT.len());
    }

    async fn close(self) {
        self.client.stop().await;
    }
}

/// rmcp's client.
#[derive(Clone, Debug)]
pub struct Rmcp {
    service: Arc<RunningService<RoleClient, ()>>,
    arguments: Arc<JsonObject>,
}

impl Rmcp {
    /// Connects to the server in a child process.
    pub async fn child() -> Self {
        let command = tokio::process::Command::new(sibling("raw_server"));
        let transport = TokioChildProcess::new(command).expect("the server starts");
        Self::new(().serve(transport).await.expect("the server is ours"))
    }

    /// Connects to the server in a task of this process, over a stream in
    /// memory, which is the least that rmcp has.
    pub async fn duplex() -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        tokio::spawn(server::serve_duplex(far));
        Self::new(().serve(near).await.expect("the server is ours"))
    }

    fn new(service: RunningService<RoleClient, ()>) -> Self {
        Self {
            service: Arc::new(service),
            arguments: arguments(),
        }
    }
}

impl Caller for Rmcp {
    async fn call(&self) {
        // Its interface takes the arguments by value.
        let arguments = JsonObject::clone(&self.arguments);
        let params = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = self.service.call_tool(params).await;
        let result = result.expect("the server answers");
        let text = result.content.first().and_then(|content| content.as_text());
        assert_eq!(text.map(|text| text.text.len()), Some(TEXT.len()));
    }

    async fn close(self) {
        if let Some(service) = Arc::into_inner(self.service) {
            let _ = service.cancel().await;
        }
    }
}

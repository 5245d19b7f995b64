//! The node: its tools, and what they do.

use std::{
    collections::{BTreeSet, HashMap},
    env, fs,
    io::{self, Write as _},
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::server::{
    CallLimits, Conversation, HandlerContext, Result, Server, Service, Tool, form::Elicit,
    seal::SealKeys,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    folder_store::FolderStore,
    program::{World, hash, numbered, run_part},
    sync::lock,
};

/// Short, so tests in which a node dies do not wait for long.
const LEASE: Duration = Duration::from_millis(500);

pub(super) fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let folder = Folder::new(arguments.next().unwrap_or_default());
    let store = FolderStore::new(&folder.0);
    let max_state = arguments.next().and_then(|text| text.parse().ok());
    let mode = arguments.next().unwrap_or_default();
    let keyring = SealKeys::from_secret(b"what all nodes of this server know");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let service = Server::new("fleet", "1")
            .state(folder)
            .seal_keys(keyring.map_err(io::Error::other)?)
            .journal_store(store.clone())
            .sealed_state_store(store)
            .lease_timeout(LEASE)
            .max_sealed_state_bytes(max_state.unwrap_or(32 * 1024))
            .tool(order())
            .tool(program())
            .tools(crate::tools::all().into_iter().map(|case| case.tool))
            .build()
            .map_err(io::Error::other)?;
        match &*mode {
            "http" => serve_http(&service).await,
            _ => service.serve_stdio().await,
        }
    })
}

#[cfg(feature = "http-server")]
async fn serve_http(service: &Service<Folder>) -> io::Result<()> {
    let http = service.http(bowline::server::http::HttpOptions::default());
    let tell = |address| writeln!(io::stdout(), "{address}");
    let mut told = Ok(());
    let served = http.bind_and_serve("127.0.0.1:0", |address| told = tell(address));
    served.await.and(told)
}

#[cfg(not(feature = "http-server"))]
async fn serve_http(_: &Service<Folder>) -> io::Result<()> {
    Err(io::Error::other(
        "this node was built without the http-server feature",
    ))
}

/// The simplest form.
#[derive(Debug, Elicit)]
pub(crate) struct Text {
    /// Any string.
    pub(crate) text: String,
}

/// Asks two questions, with side effects before, between and after.
fn order() -> Tool<Folder> {
    Tool::new("order")
        .description("Orders something")
        .no_input()
        .phases()
        .before(async |_, cx: HandlerContext<Folder>| cx.state().note("before").await)
        .ask(async |_, cx: Conversation<Folder>| {
            let what = cx.elicit::<Text>("what?").required().await?.text;
            let charged = cx.step("charge", cx.state().note("charge")).await;
            let charged = charged.unwrap_or_else(|error| error.to_string());
            cx.state().wait("charged").await;
            let size = cx.elicit::<Text>("which size?").required().await?.text;
            Ok(format!("{charged}, {what}, {size}"))
        })
        .after(async |before, order: String, cx: HandlerContext<Folder>| {
            let after = cx.state().note("after").await?;
            Ok(format!("{before}, {order}, {after}"))
        })
}

/// The program to run.
#[derive(Deserialize, JsonSchema)]
struct Number {
    number: u64,
}

/// A random conversation, the same on all nodes. At the end it reports the
/// steps whose outcome is unknown, since it may have skipped them.
fn program() -> Tool<Folder> {
    Tool::new("program")
        .description("Runs a random conversation")
        .input::<Number>()
        .limits(CallLimits::new().max_questions(10_000))
        .handler_with_conversation(async |it: Number, cx: Conversation<Folder>| {
            let ended = run_part(&numbered(it.number), &cx).await;
            let Some(lost) = cx.state().take_lost(cx.id()) else {
                return ended;
            };
            let ended = ended.unwrap_or_else(|error| error.to_string());
            Ok(format!("{ended} (not known: {lost:?})"))
        })
}

impl World for Folder {
    fn world(&self) -> u64 {
        0
    }

    /// Takes a few milliseconds before and after, during which the node may
    /// die.
    async fn note(&self, conversation: &str, what: &str) -> Result<String> {
        tokio::time::sleep(Duration::from_millis(hash(what, 1) % 4)).await;
        self.write_down(&format!("{conversation} {what}"))?;
        tokio::time::sleep(Duration::from_millis(hash(what, 2) % 8)).await;
        Ok(what.to_owned())
    }

    fn lost(&self, conversation: &str, step: &str) {
        let mut all = lock(&self.1);
        let steps = all.entry(conversation.to_owned()).or_default();
        steps.insert(step.to_owned());
    }
}

/// The shared folder, and the steps whose outcome this node does not know,
/// by conversation. In each round a conversation is told all of them.
#[derive(Clone, Default)]
pub(crate) struct Folder(PathBuf, Arc<Mutex<HashMap<String, BTreeSet<String>>>>);

impl Folder {
    fn new(path: String) -> Self {
        Self(path.into(), Arc::default())
    }

    fn take_lost(&self, conversation: &str) -> Option<BTreeSet<String>> {
        let mut all = lock(&self.1);
        all.remove(conversation)
    }

    /// Performs a side effect, recorded as a line in the shared log.
    pub(crate) async fn note(&self, what: &str) -> Result<String> {
        self.write_down(what)?;
        self.wait(what).await;
        Ok(what.to_owned())
    }

    /// Appends a line to the log atomically.
    fn write_down(&self, what: &str) -> io::Result<()> {
        let list = self.0.join("done");
        let mut list = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(list)?;
        let line = format!("{} {what}\n", std::process::id());
        list.write_all(line.as_bytes())
    }

    /// Reports where it is, and stays there if told to.
    async fn wait(&self, place: &str) {
        if self.0.join(format!("stay-{place}")).exists() {
            let _ = writeln!(io::stderr(), "{place}");
            std::future::pending::<()>().await;
        }
    }
}

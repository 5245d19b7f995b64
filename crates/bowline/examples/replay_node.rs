//! One node of a server of several, for the tests: `replay_node <folder>
//! <max-state> [hurry | http]`.
//!
//! Nodes share a key, and a folder for what happened once, for states that are
//! too large, and for a list of what was done, and by whom. With `hurry`,
//! waiting for something takes no time: for tests in which a node waits for a
//! dead one. With `http`, the node serves over HTTP, and says at which address.
//! Its tools are its own one, and all those of the tests' suite.

#[cfg(all(feature = "server", feature = "macros", unix))]
fn main() -> std::io::Result<()> {
    node::main()
}

#[cfg(not(all(feature = "server", feature = "macros", unix)))]
fn main() {}

/// The suite's tools, with a list of what happened that all nodes share.
#[cfg(all(feature = "server", feature = "macros", unix))]
#[path = "../tests/it/server/replay/tools.rs"]
#[expect(
    dead_code,
    reason = "what must come of the tools is the tests' business"
)]
mod tools;
#[cfg(all(feature = "server", feature = "macros", unix))]
#[path = "../tests/it/server/replay/unordered.rs"]
mod unordered;

/// What the suite's tools have at hand.
#[cfg(all(feature = "server", feature = "macros", unix))]
mod app {
    pub(crate) use crate::node::{Folder as App, Text};
}

#[cfg(all(feature = "server", feature = "macros", unix))]
mod node {
    use std::{
        env, fs,
        io::{self, ErrorKind, Write as _},
        path::PathBuf,
        sync::atomic::{AtomicU64, Ordering},
        time::Duration,
    };

    use bowline::{
        server::{
            Conversation, Result, Server, ServerContext, Service, Tool,
            form::Elicit,
            seal::Keyring,
            store::{Claim, OnceStore, StateStore, StoreError},
        },
        transport::BoxFuture,
    };
    use bytes::Bytes;

    pub(super) fn main() -> io::Result<()> {
        let mut arguments = env::args().skip(1);
        let folder = Folder::new(arguments.next().unwrap_or_default());
        let max_state = arguments.next().and_then(|text| text.parse().ok());
        let mode = arguments.next().unwrap_or_default();
        let keyring = Keyring::from_secret(b"what all nodes of this server know");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(mode == "hurry")
            .build()?;
        runtime.block_on(async {
            let service = Server::new("fleet", "1")
                .state(folder.clone())
                .keyring(keyring.map_err(io::Error::other)?)
                .once_store(folder.clone())
                .state_store(folder)
                .max_state(max_state.unwrap_or(32 * 1024))
                .tool(order())
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
        let served = http.bind("127.0.0.1:0", |address| told = tell(address));
        served.await.and(told)
    }

    #[cfg(not(feature = "http-server"))]
    async fn serve_http(_: &Service<Folder>) -> io::Result<()> {
        Err(io::Error::other("this node was built without HTTP"))
    }

    /// The plainest form.
    #[derive(Debug, Elicit)]
    pub(crate) struct Text {
        /// Anything.
        pub(crate) text: String,
    }

    /// Two questions, with something done before, between and after.
    fn order() -> Tool<Folder> {
        Tool::new("order")
            .description("Orders something")
            .no_input()
            .handoff()
            .before(async |_, cx: ServerContext<Folder>| cx.state().note("before").await)
            .client(async |_, cx: Conversation<Folder>| {
                let what = cx.elicit::<Text>("what?").strict().await?.text;
                let charged = cx.step("charge", cx.state().note("charge")).await;
                let charged = charged.unwrap_or_else(|error| error.to_string());
                cx.state().wait("charged").await;
                let size = cx.elicit::<Text>("which size?").strict().await?.text;
                Ok(format!("{charged}, {what}, {size}"))
            })
            .after(async |before, order: String, cx: ServerContext<Folder>| {
                let after = cx.state().note("after").await?;
                Ok(format!("{before}, {order}, {after}"))
            })
    }

    /// What all nodes share.
    #[derive(Clone)]
    pub(crate) struct Folder(PathBuf);

    impl Folder {
        fn new(path: String) -> Self {
            Self(path.into())
        }

        /// Does something, of which the list of all nodes keeps a line.
        pub(crate) async fn note(&self, what: &str) -> Result<String> {
            let list = self.0.join("done");
            let mut list = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(list)?;
            let line = format!("{} {what}\n", std::process::id());
            list.write_all(line.as_bytes())?;
            self.wait(what).await;
            Ok(what.to_owned())
        }

        /// Says where it is, and stays there if it is told to.
        async fn wait(&self, place: &str) {
            if self.0.join(format!("stay-{place}")).exists() {
                let _ = writeln!(io::stderr(), "{place}");
                std::future::pending::<()>().await;
            }
        }

        fn file(&self, kind: &str, key: &str) -> PathBuf {
            let name: String = key.chars().map(plain).collect();
            self.0.join(format!("{kind}-{name}"))
        }

        /// Writes a file that nobody sees before it is whole.
        fn whole(&self, value: &[u8]) -> io::Result<PathBuf> {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = self.0.join(format!("new-{}-{number}", std::process::id()));
            fs::write(&path, value)?;
            Ok(path)
        }

        fn claim_file(&self, key: &str, value: &[u8]) -> io::Result<Claim> {
            let (new, file) = (self.whole(value)?, self.file("once", key));
            let linked = fs::hard_link(&new, &file);
            fs::remove_file(new)?;
            match linked {
                Ok(()) => Ok(Claim::First),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    Ok(Claim::Earlier(fs::read(file)?.into()))
                }
                Err(error) => Err(error),
            }
        }

        fn put_file(&self, kind: &str, key: &str, value: &[u8]) -> io::Result<()> {
            fs::rename(self.whole(value)?, self.file(kind, key))
        }
    }

    fn plain(character: char) -> char {
        match character {
            '/' | '#' | '!' => '_',
            other => other,
        }
    }

    fn failed(error: io::Error) -> StoreError {
        StoreError::new("the folder failed").caused_by(error)
    }

    impl OnceStore for Folder {
        fn claim<'a>(
            &'a self,
            key: &'a str,
            value: Bytes,
            _ttl: Duration,
        ) -> BoxFuture<'a, Result<Claim, StoreError>> {
            Box::pin(async move { self.claim_file(key, &value).map_err(failed) })
        }

        fn put<'a>(
            &'a self,
            key: &'a str,
            value: Bytes,
            _ttl: Duration,
        ) -> BoxFuture<'a, Result<(), StoreError>> {
            Box::pin(async move { self.put_file("once", key, &value).map_err(failed) })
        }

        fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
            Box::pin(async move {
                match fs::remove_file(self.file("once", key)) {
                    Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
                    _ => Ok(()),
                }
            })
        }
    }

    impl StateStore for Folder {
        fn save<'a>(
            &'a self,
            handle: &'a str,
            state: Bytes,
            _ttl: Duration,
        ) -> BoxFuture<'a, Result<(), StoreError>> {
            Box::pin(async move { self.put_file("state", handle, &state).map_err(failed) })
        }

        fn load<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
            Box::pin(async move {
                match fs::read(self.file("state", handle)) {
                    Ok(state) => Ok(Some(state.into())),
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(failed(error)),
                }
            })
        }
    }
}

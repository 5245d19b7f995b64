//! One of several nodes of a server, for the tests: `replay_node <folder>
//! <max-state> [http]`.
//!
//! Nodes share a key, and a folder for journals, for states that are too large,
//! and for a log of what was done and by which node. With `http`, the node
//! serves over HTTP and prints its address. Its tools are `order`, all tools of
//! the test suite, and `program`, which runs the random conversation of a
//! number.

#[cfg(all(feature = "server", feature = "macros", unix))]
fn main() -> std::io::Result<()> {
    node::main()
}

#[cfg(not(all(feature = "server", feature = "macros", unix)))]
fn main() {}

/// The tools of the test suite, with a log shared by all nodes.
#[cfg(all(feature = "server", feature = "macros", unix))]
#[path = "../tests/it/server/replay/tools.rs"]
#[expect(dead_code, reason = "only the tests check the results of the tools")]
mod tools;
#[cfg(all(feature = "server", feature = "macros", unix))]
#[path = "../tests/it/server/replay/unordered.rs"]
mod unordered;

/// Random conversations.
#[cfg(all(feature = "server", feature = "macros", unix))]
#[path = "../tests/it/server/replay/program.rs"]
#[expect(dead_code, reason = "only the tests use the rest")]
mod program;

/// The dependencies of the suite's tools.
#[cfg(all(feature = "server", feature = "macros", unix))]
mod app {
    pub(crate) use crate::node::{Folder as App, Text};
}

#[cfg(all(feature = "server", feature = "macros", unix))]
mod node {
    use std::{
        collections::{BTreeSet, HashMap},
        env, fs,
        io::{self, ErrorKind, Write as _},
        path::{Path, PathBuf},
        sync::{
            Arc, Mutex, PoisonError,
            atomic::{AtomicU64, Ordering},
        },
        time::{Duration, SystemTime},
    };

    use bowline::{
        server::{
            CallLimits, Conversation, Result, Server, ServerContext, Service, Tool,
            form::Elicit,
            seal::SealKeys,
            store::{
                AppendOutcome, ConversationKey, JournalStore, Lease, NewEntry, OpenedJournal,
                StateStore, StoreError,
            },
        },
        transport::BoxFuture,
    };
    use bytes::Bytes;
    use schemars::JsonSchema;
    use serde::Deserialize;

    use crate::program::{World, hash, numbered, play};

    /// Short, so tests in which a node dies do not wait for long.
    const LEASE: Duration = Duration::from_millis(500);

    pub(super) fn main() -> io::Result<()> {
        let mut arguments = env::args().skip(1);
        let folder = Folder::new(arguments.next().unwrap_or_default());
        let max_state = arguments.next().and_then(|text| text.parse().ok());
        let mode = arguments.next().unwrap_or_default();
        let keyring = SealKeys::from_secret(b"what all nodes of this server know");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let service = Server::new("fleet", "1")
                .state(folder.clone())
                .seal_keys(keyring.map_err(io::Error::other)?)
                .journal_store(folder.clone())
                .state_store(folder)
                .lease_timeout(LEASE)
                .max_state_bytes(max_state.unwrap_or(32 * 1024))
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
            .handler_with_context(async |it: Number, cx: Conversation<Folder>| {
                let ended = play(&numbered(it.number), &cx).await;
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
            let mut all = self.1.lock().unwrap_or_else(PoisonError::into_inner);
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
            let mut all = self.1.lock().unwrap_or_else(PoisonError::into_inner);
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

        /// Keys begin with random characters: one folder for each two of them.
        fn file(&self, kind: &str, key: &str) -> PathBuf {
            let name: String = key.chars().map(plain).collect();
            let some: String = name.chars().take(2).collect();
            self.0.join(some).join(format!("{kind}-{name}"))
        }

        /// Writes a file that is not visible before it is complete.
        fn whole(&self, value: &[u8]) -> io::Result<PathBuf> {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = self.0.join(format!("new-{}-{number}", std::process::id()));
            fs::write(&path, value)?;
            Ok(path)
        }

        /// Writes a file if it does not exist. Returns whether it did.
        fn write_once(&self, file: &Path, value: &[u8]) -> io::Result<bool> {
            let new = self.whole(value)?;
            make_room(file)?;
            let linked = fs::hard_link(&new, file);
            fs::remove_file(new)?;
            match linked {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(error),
            }
        }

        fn put_file(&self, kind: &str, key: &str, value: &[u8]) -> io::Result<()> {
            let file = self.file(kind, key);
            make_room(&file)?;
            fs::rename(self.whole(value)?, file)
        }
    }

    /// Creates the parent folder of a file.
    fn make_room(file: &Path) -> io::Result<()> {
        file.parent().map_or(Ok(()), fs::create_dir_all)
    }

    fn plain(character: char) -> char {
        match character {
            '/' => '_',
            other => other,
        }
    }

    fn failed(error: io::Error) -> StoreError {
        StoreError::new("the folder store failed").with_source(error)
    }

    /// Every entry is a file, including its response if it has one, so both
    /// exist or neither.
    impl Folder {
        fn entry(&self, id: &str, position: u64) -> PathBuf {
            self.file("entry", &format!("{id}-{position}"))
        }

        fn read(&self, id: &str, from: u64, lease: Lease<'_>) -> io::Result<OpenedJournal> {
            let acquired = self.take_lease(id, lease)?;
            let known = from == 0 || self.entry(id, from - 1).exists();
            let mut opened = OpenedJournal::new(if known { from } else { 0 });
            while let Some(file) = found(fs::read(self.entry(id, opened.next_position)))? {
                let (entry, answer) = unpack(file.into())?;
                if opened.next_position >= from {
                    opened.entries.push(entry);
                }
                opened.response = answer;
                opened.next_position += 1;
            }
            opened.acquired = acquired;
            Ok(opened)
        }

        fn write(&self, id: &str, entry: &NewEntry) -> io::Result<AppendOutcome> {
            let gap = entry.position > 0 && !self.entry(id, entry.position - 1).exists();
            if gap || !self.write_once(&self.entry(id, entry.position), &pack(entry))? {
                return Ok(AppendOutcome::Conflict);
            }
            if entry.response.is_some() {
                found(fs::remove_file(self.file("lease", id)))?;
            }
            Ok(AppendOutcome::Appended)
        }

        /// Takes the lease unless another holder has it. Two nodes that find it
        /// expired both try to move it away; one of them succeeds.
        fn take_lease(&self, id: &str, lease: Lease<'_>) -> io::Result<bool> {
            let file = self.file("lease", id);
            let until = millis() + lease.duration.as_millis();
            let ours = format!("{} {until}", lease.holder);
            if self.write_once(&file, ours.as_bytes())? {
                return Ok(true);
            }
            let known = found(fs::read_to_string(&file))?.unwrap_or_default();
            let (holder, until) = known.split_once(' ').unwrap_or_default();
            if holder == lease.holder {
                fs::rename(self.whole(ours.as_bytes())?, &file)?;
                return Ok(true);
            }
            if until.parse().is_ok_and(|until: u128| until > millis()) {
                return Ok(false);
            }
            let away = self.whole(b"")?;
            Ok(found(fs::rename(&file, away))?.is_some()
                && self.write_once(&file, ours.as_bytes())?)
        }
    }

    /// The length of the entry, the entry, and the response.
    fn pack(entry: &NewEntry) -> Vec<u8> {
        let length = (entry.value.len() as u64).to_le_bytes();
        let answer = entry.response.as_deref().unwrap_or_default();
        [&length, &*entry.value, answer].concat()
    }

    fn unpack(mut file: Bytes) -> io::Result<(Bytes, Option<Bytes>)> {
        let cut = || io::Error::other("an entry is truncated");
        let (length, rest) = file.split_first_chunk().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(io::Error::other)?;
        if rest.len() < length {
            return Err(cut());
        }
        let mut entry = file.split_off(8);
        let answer = entry.split_off(length);
        Ok((entry, (!answer.is_empty()).then_some(answer)))
    }

    /// Returns milliseconds of the Unix epoch.
    fn millis() -> u128 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.unwrap_or_default().as_millis()
    }

    /// Maps "not found" to `None`.
    fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    impl JournalStore for Folder {
        fn open<'a>(
            &'a self,
            key: ConversationKey<'a>,
            from: u64,
            lease: Lease<'a>,
        ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
            Box::pin(async move { self.read(key.id, from, lease).map_err(failed) })
        }

        fn append<'a>(
            &'a self,
            key: ConversationKey<'a>,
            entry: NewEntry,
        ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
            Box::pin(async move { self.write(key.id, &entry).map_err(failed) })
        }

        fn renew<'a>(
            &'a self,
            key: ConversationKey<'a>,
            lease: Lease<'a>,
        ) -> BoxFuture<'a, Result<(), StoreError>> {
            Box::pin(async move {
                let known = found(fs::read_to_string(self.file("lease", key.id)));
                let known = known.map_err(failed)?;
                if known.is_some_and(|known| known.starts_with(lease.holder)) {
                    self.take_lease(key.id, lease).map_err(failed)?;
                }
                Ok(())
            })
        }

        fn release<'a>(
            &'a self,
            key: ConversationKey<'a>,
            holder: &'a str,
        ) -> BoxFuture<'a, Result<(), StoreError>> {
            Box::pin(async move {
                let file = self.file("lease", key.id);
                let known = found(fs::read_to_string(&file)).map_err(failed)?;
                if known.is_some_and(|known| known.starts_with(holder)) {
                    found(fs::remove_file(file)).map_err(failed)?;
                }
                Ok(())
            })
        }
    }

    impl StateStore for Folder {
        fn save<'a>(
            &'a self,
            key: ConversationKey<'a>,
            state: Bytes,
            _ttl: Duration,
        ) -> BoxFuture<'a, Result<(), StoreError>> {
            Box::pin(async move { self.put_file("state", key.id, &state).map_err(failed) })
        }

        fn load<'a>(
            &'a self,
            key: ConversationKey<'a>,
        ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
            Box::pin(async move {
                let state = found(fs::read(self.file("state", key.id)));
                Ok(state.map_err(failed)?.map(Bytes::from))
            })
        }
    }
}

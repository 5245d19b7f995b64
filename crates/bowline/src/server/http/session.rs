//! One session of the handshake era.

use std::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use tokio::{sync::Notify, time::Instant};

use super::{
    Inner,
    event_store_writer::EventStoreWriter,
    post::PostKind,
    quotas::{BytesPermit, ClientQuota},
    recorder::Recorder,
    session_record::SessionRecord,
    session_slots::SessionActivity,
    streams::{Reader, Streams},
};
use crate::{
    proto::{
        http::SessionId,
        revision::{HttpMode, Revision},
        server::{Connection, Input, RequestKey},
    },
    server::{
        auth::permissions::Permissions,
        dispatch::request::{RequestHandler, RequestOrigin},
        seal::random_bytes,
        serve::{FrameSink, SharedConnection},
    },
    sync,
};

/// A session with its own machine.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) principal: Option<Arc<str>>,
    /// The quota it is charged to.
    pub(super) quota: Arc<ClientQuota>,
    pub(super) record: Mutex<SessionRecord>,
    /// Held while the record is being stored. The value is whether the client
    /// has ended the session and nothing may be stored anymore.
    pub(super) store_lock: tokio::sync::Mutex<bool>,
    handler: Arc<dyn RequestHandler>,
    shared: Arc<SharedConnection>,
    streams: Arc<Mutex<Streams>>,
    last_used: Mutex<Instant>,
    /// How many bytes it held at the last check.
    accounted_bytes: AtomicUsize,
    /// Notified when its size changes without a request.
    pub(super) size_changed: Arc<Notify>,
    /// The term of this node's lease in which it was found to be ours.
    #[cfg(feature = "cluster")]
    term: std::sync::atomic::AtomicU64,
}

/// The memory a session uses in addition to its client's data.
const SESSION_OVERHEAD: usize = 8 * 1024;

/// The owner of a session.
pub(super) struct SessionOwner {
    pub(super) principal: Option<Arc<str>>,
    pub(super) quota: Arc<ClientQuota>,
}

/// The outcome of a POST.
pub(super) struct PostOutcome {
    /// Receives the responses.
    pub(super) reader: Reader,
    /// Whether it contains requests that are being processed.
    pub(super) has_requests: bool,
}

/// Receives the frames of the machine.
struct SessionSink {
    streams: Arc<Mutex<Streams>>,
    size_changed: Arc<Notify>,
}

impl FrameSink for SessionSink {
    fn send(&mut self, request: Option<RequestKey>, is_response: bool, frame: Bytes) {
        let mut streams = sync::lock(&self.streams);
        let before = streams.held_bytes();
        streams.send(request, is_response, frame);
        if streams.held_bytes() != before {
            self.size_changed.notify_one();
        }
    }

    fn is_backlogged(&self, request: RequestKey) -> bool {
        sync::lock(&self.streams).is_backlogged(request)
    }

    fn cancelled(&mut self, request: RequestKey) {
        sync::lock(&self.streams).cancelled(request);
    }

    fn release_connection(&mut self, request: RequestKey) -> bool {
        sync::lock(&self.streams).release_connection(request)
    }
}

impl Session {
    pub(super) fn new(inner: &Inner, id: SessionId, owner: SessionOwner) -> Arc<Self> {
        let machine = Connection::new(Arc::clone(inner.handler.config()));
        Self::with_machine(machine, inner, id, owner)
    }

    /// Creates a session that another node had, which may have pending
    /// questions.
    pub(super) fn restore(inner: &Inner, id: SessionId, owner: SessionOwner) -> Arc<Self> {
        let machine = Connection::new(Arc::clone(inner.handler.config()));
        let machine = machine.with_call_ids_after(u64::from_le_bytes(random_bytes()) >> 12);
        Self::with_machine(machine, inner, id, owner)
    }

    fn with_machine(
        machine: Connection,
        inner: &Inner,
        id: SessionId,
        owner: SessionOwner,
    ) -> Arc<Self> {
        let SessionOwner { principal, quota } = owner;
        let (handler, options) = (&inner.handler, &inner.options);
        let incarnation = u64::from_le_bytes(random_bytes());
        let store = options.event_store.as_ref();
        let writer = store.map(|store| {
            let seal = Arc::clone(&inner.sessions.config.seal);
            EventStoreWriter::new(Arc::clone(store), seal, id.clone(), options.idle_timeout)
        });
        let recorder = Recorder::new(
            incarnation,
            options.replay_limits,
            Arc::clone(&quota),
            writer,
        );
        let streams = Arc::new(Mutex::new(Streams::new(recorder)));
        let size_changed = Arc::new(Notify::new());
        let sink = Box::new(SessionSink {
            streams: Arc::clone(&streams),
            size_changed: Arc::clone(&size_changed),
        });
        let serve_options = handler.serve_options().clone();
        let shared = SharedConnection::with_sink(machine, sink, serve_options, principal.clone());
        inner.connections.register(&shared);
        Arc::new(Self {
            id,
            principal,
            quota,
            record: Mutex::default(),
            store_lock: tokio::sync::Mutex::default(),
            handler: Arc::clone(handler),
            shared,
            streams,
            last_used: Mutex::new(Instant::now()),
            accounted_bytes: AtomicUsize::new(0),
            size_changed,
            #[cfg(feature = "cluster")]
            term: inner.cluster_term().into(),
        })
    }

    #[cfg(feature = "cluster")]
    pub(super) fn term(&self) -> u64 {
        self.term.load(Ordering::SeqCst)
    }

    #[cfg(feature = "cluster")]
    pub(super) fn set_term(&self, term: u64) {
        self.term.store(term, Ordering::SeqCst);
    }

    pub(super) fn touch(&self) {
        *sync::lock(&self.last_used) = Instant::now();
    }

    /// Returns its activity, to decide whether it may stay open.
    pub(super) fn activity(&self) -> SessionActivity {
        SessionActivity {
            initialized: self.shared.inspect(Connection::is_initialized),
            connected: self.streams().has_listener(),
            last_used: *sync::lock(&self.last_used),
        }
    }

    /// Returns the approximate number of bytes it holds while it is open: its
    /// client's data, also as stored, and undelivered notifications.
    pub(super) fn update_accounted_bytes(&self) -> usize {
        let bytes = self.total_bytes();
        self.accounted_bytes.store(bytes, Ordering::Relaxed);
        bytes
    }

    fn total_bytes(&self) -> usize {
        let machine_bytes = self.shared.inspect(Connection::session_bytes);
        let record_bytes = sync::lock(&self.record).bytes();
        SESSION_OVERHEAD + machine_bytes + record_bytes + self.streams().held_bytes()
    }

    pub(super) fn shared(&self) -> &Arc<SharedConnection> {
        &self.shared
    }

    pub(super) fn streams(&self) -> MutexGuard<'_, Streams> {
        sync::lock(&self.streams)
    }

    /// Processes events that did not come from a request.
    pub(super) fn dispatch_pending(&self) {
        self.shared.dispatch_pending(&self.handler);
        self.close_if_ended();
    }

    /// Closes the session and cancels its work.
    pub(super) fn close(&self) {
        self.shared.close(&self.handler);
        self.streams().close();
    }

    /// Cancels work that started while the session was closed, which nothing
    /// else would cancel.
    fn close_if_ended(&self) {
        if self.shared.inspect(Connection::has_ended) {
            self.close();
        }
    }

    /// Returns whether its size changed since the last check.
    pub(super) fn has_size_changed(&self) -> bool {
        self.total_bytes() != self.accounted_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        let read = |machine: &Connection| machine.session().map(|(revision, _)| revision);
        self.shared.inspect(read)
    }

    /// Returns whether the client resumes streams that are closed early.
    fn supports_polling(&self) -> bool {
        let mode = self.revision().map(|revision| revision.rules().http);
        matches!(mode, Some(HttpMode::Streamable { polling: true }))
    }

    /// Processes a POST, or returns `None` if the session is closed. Its bytes
    /// are charged until all of it is processed.
    pub(super) fn post(
        &self,
        body: Bytes,
        bytes_permit: Option<BytesPermit>,
        kind: PostKind,
        permissions: Permissions,
    ) -> Option<PostOutcome> {
        let bytes_permit = bytes_permit.map(|bytes_permit| Arc::new(bytes_permit) as _);
        let origin = RequestOrigin {
            caller: (&self.quota.key).into(),
            quota_permit: bytes_permit,
        };
        let mut has_requests = false;
        let reader = self.shared.handle_input(
            &self.handler,
            (permissions, origin),
            |machine, now| {
                let reader = machine.is_receiving().then(|| self.streams().open_post());
                machine.handle(now, Input::Frame(body));
                reader
            },
            |requests| {
                has_requests = !requests.is_empty();
                self.streams().post_accepted(requests);
            },
        );
        self.close_if_ended();
        let reader = reader?;
        if kind == PostKind::Initialize {
            self.streams().polling = self.supports_polling();
        }
        self.touch();
        Some(PostOutcome {
            reader,
            has_requests,
        })
    }
}

/// Closes a session that was never added because its client disconnected.
impl Drop for Session {
    fn drop(&mut self) {
        if !self.shared.inspect(Connection::has_ended) {
            self.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;
    use crate::server::{
        Server, Tool,
        http::{HttpOptions, HttpService, streams::StreamMessage},
    };

    #[derive(Deserialize, JsonSchema)]
    struct Wait {
        wait: bool,
    }

    fn call(id: u32, wait: bool) -> Value {
        let params = json!({"name": "wait", "arguments": {"wait": wait}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    }

    fn post(session: &Session, message: &Value, kind: PostKind) -> Option<PostOutcome> {
        session.post(
            message.to_string().into(),
            None,
            kind,
            Permissions::AllScopes,
        )
    }

    async fn answer(posted: Option<PostOutcome>) -> String {
        let mut messages = posted.expect("the session is open").reader.messages;
        match messages.recv().await {
            Some(StreamMessage::Frame { frame, .. }) => {
                String::from_utf8_lossy(&frame).into_owned()
            }
            other => format!("{other:?}"),
        }
    }

    /// A session with a tool that reports when it waits, waits until released,
    /// and returns whether it was.
    async fn with_a_gate(
        enters: mpsc::Sender<()>,
        let_go: mpsc::Receiver<()>,
    ) -> (HttpService, Arc<Session>) {
        let gate = Arc::new(Mutex::new((enters, let_go)));
        let work = move |input: Wait| {
            let gate = Arc::clone(&gate);
            async move {
                let (enters, let_go) = &*sync::lock(&gate);
                let held = !input.wait || enters.send(()).is_ok();
                let free = !input.wait || let_go.recv_timeout(Duration::from_secs(10)).is_ok();
                Ok((held && free).to_string())
            }
        };
        let wait = Tool::new("wait").description("Waits").input::<Wait>();
        let server = Server::new("test", "1").tool(wait.handler(work));
        let http = server.build().unwrap().http(HttpOptions::default());
        let owner = SessionOwner {
            principal: None,
            quota: Arc::clone(http.inner.quotas.unknown()),
        };
        let session = Session::new(&http.inner, SessionId::new("test").unwrap(), owner);
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let opening = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let opened = answer(post(&session, &opening, PostKind::Initialize)).await;
        assert!(opened.contains("2025-11-25"), "{opened}");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert!(post(&session, &initialized, PostKind::Other).is_some());
        (http, session)
    }

    /// A tool that was fast runs where its call was read. If it blocks there
    /// once, other POSTs still proceed.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_tool_that_blocks_holds_up_its_own_post_alone() {
        let (enters, entered) = mpsc::channel();
        let (lets_go, let_go) = mpsc::channel();
        let (_http, session) = with_a_gate(enters, let_go).await;
        for id in 1..50 {
            let quick = answer(post(&session, &call(id, false), PostKind::Other)).await;
            assert!(quick.contains("true"), "{quick}");
        }
        let blocked = Arc::clone(&session);
        let blocked =
            tokio::task::spawn_blocking(move || post(&blocked, &call(50, true), PostKind::Other));
        let entered = tokio::task::spawn_blocking(move || entered.recv());
        entered.await.unwrap().unwrap();
        let ping = json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"});
        let pong = answer(post(&session, &ping, PostKind::Other)).await;
        assert!(pong.contains("\"ping\""), "{pong}");
        lets_go.send(()).unwrap();
        let waited = answer(blocked.await.unwrap()).await;
        assert!(waited.contains("true"), "{waited}");
    }
}

//! One session of the older revisions.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use tokio::{sync::Notify, time::Instant};

use super::{
    Inner,
    accounts::{Account, Charge},
    made_of::MadeOf,
    notes::Notes,
    post::Said,
    recorder::Recorder,
    seats::Standing,
    streams::{Reader, Streams},
};
use crate::{
    proto::{
        http::SessionId,
        revision::{HttpShape, Revision},
        server::{Connection, Incoming, Input},
    },
    server::{
        auth::grant::Granted,
        request::{Handle, SentBy},
        seal::random_bytes,
        serve::{Outlet, Shared},
    },
};

/// A session, with a machine of its own.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) principal: Option<Arc<str>>,
    /// Whose account it counts for.
    pub(super) account: Arc<Account>,
    pub(super) made_of: Mutex<MadeOf>,
    /// Held by whoever notes that elsewhere; whether the client has ended the
    /// session, and nothing is to be noted any more.
    pub(super) noting: tokio::sync::Mutex<bool>,
    handle: Arc<dyn Handle>,
    shared: Arc<Shared>,
    streams: Arc<Mutex<Streams>>,
    used: Mutex<Instant>,
    /// How many bytes it kept when that was looked at last.
    held_bytes: AtomicUsize,
    /// Told when it keeps more, or less, without having been asked anything.
    pub(super) weighs_otherwise: Arc<Notify>,
}

/// What a session takes besides what its client said.
const BYTES: usize = 8 * 1024;

/// Whose a session is.
pub(super) struct Whose {
    pub(super) principal: Option<Arc<str>>,
    pub(super) account: Arc<Account>,
}

/// What came of a POST.
pub(super) struct Posted {
    /// Where the answers can be read.
    pub(super) reader: Reader,
    /// Whether there are requests that somebody works on.
    pub(super) asked: bool,
}

/// Where the machine's frames go.
struct SessionOutlet {
    streams: Arc<Mutex<Streams>>,
    weighs_otherwise: Arc<Notify>,
}

impl Outlet for SessionOutlet {
    fn send(&mut self, about: Option<Incoming>, answer: bool, frame: Bytes) {
        let mut streams = lock(&self.streams);
        let before = streams.held_bytes();
        streams.send(about, answer, frame);
        if streams.held_bytes() != before {
            self.weighs_otherwise.notify_one();
        }
    }

    fn is_behind(&self, request: Incoming) -> bool {
        lock(&self.streams).is_behind(request)
    }

    fn called_off(&mut self, request: Incoming) {
        lock(&self.streams).called_off(request);
    }

    fn pause(&mut self, request: Incoming) -> bool {
        lock(&self.streams).pause(request)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing of ours that holds a lock panics halfway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(super) fn new(inner: &Inner, id: SessionId, whose: Whose) -> Arc<Self> {
        let machine = Connection::new(Arc::clone(inner.handle.config()));
        Self::of(machine, inner, id, whose)
    }

    /// A session that another node had, and perhaps asked questions in.
    pub(super) fn again(inner: &Inner, id: SessionId, whose: Whose) -> Arc<Self> {
        let machine = Connection::new(Arc::clone(inner.handle.config()));
        let machine = machine.calls_after(u64::from_le_bytes(random_bytes()) >> 12);
        Self::of(machine, inner, id, whose)
    }

    fn of(machine: Connection, inner: &Inner, id: SessionId, whose: Whose) -> Arc<Self> {
        let Whose { principal, account } = whose;
        let (handle, options) = (&inner.handle, &inner.options);
        let incarnation = u64::from_le_bytes(random_bytes());
        let store = options.event_store.as_ref();
        let notes = store.map(|store| Notes::new(Arc::clone(store), id.clone(), options.idle));
        let recorder = Recorder::new(incarnation, options.replay, Arc::clone(&account), notes);
        let streams = Arc::new(Mutex::new(Streams::new(recorder)));
        let weighs_otherwise = Arc::new(Notify::new());
        let outlet = Box::new(SessionOutlet {
            streams: Arc::clone(&streams),
            weighs_otherwise: Arc::clone(&weighs_otherwise),
        });
        let serving = handle.serving().clone();
        let shared = Shared::with_outlet(machine, outlet, serving, principal.clone());
        inner.connections.register(&shared);
        Arc::new(Self {
            id,
            principal,
            account,
            made_of: Mutex::default(),
            noting: tokio::sync::Mutex::default(),
            handle: Arc::clone(handle),
            shared,
            streams,
            used: Mutex::new(Instant::now()),
            held_bytes: AtomicUsize::new(0),
            weighs_otherwise,
        })
    }

    pub(super) fn touch(&self) {
        *lock(&self.used) = Instant::now();
    }

    /// How it stands, for those who say whether it may stay.
    pub(super) fn standing(&self) -> Standing {
        Standing {
            initialized: self.shared.look(Connection::is_initialized),
            connected: self.streams().is_used(),
            used: *lock(&self.used),
        }
    }

    /// About how many bytes it keeps as long as it is open: of what its client
    /// said, also as it is noted elsewhere, and of what nobody listens to yet.
    pub(super) fn held_bytes(&self) -> usize {
        let bytes = self.kept();
        self.held_bytes.store(bytes, Ordering::Relaxed);
        bytes
    }

    fn kept(&self) -> usize {
        let said = self.shared.look(Connection::held_bytes);
        let noted = lock(&self.made_of).bytes();
        BYTES + said + noted + self.streams().held_bytes()
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn streams(&self) -> MutexGuard<'_, Streams> {
        lock(&self.streams)
    }

    /// Does what came of something that happened by itself.
    pub(super) fn attend(&self) {
        self.shared.attend(&self.handle);
        self.give_up_if_over();
    }

    /// Ends the session, and all that was begun for it.
    pub(super) fn close(&self) {
        self.shared.close(&self.handle);
        self.streams().close();
    }

    /// What was begun while the session was ended would never be given up
    /// otherwise.
    fn give_up_if_over(&self) {
        if self.shared.look(Connection::has_ended) {
            self.close();
        }
    }

    /// Whether it keeps more, or less, than when that was looked at last.
    pub(super) fn has_changed(&self) -> bool {
        self.kept() != self.held_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        let read = |machine: &Connection| machine.session().map(|(revision, _)| revision);
        self.shared.look(read)
    }

    /// Whether the client comes back to streams that are closed early.
    fn polls(&self) -> bool {
        let shape = self.revision().map(|revision| revision.rules().http);
        matches!(shape, Some(HttpShape::Streamable { polling: true }))
    }

    /// Takes in what was posted; nothing, if the session is over. Its bytes are
    /// charged until nobody works on any of it.
    pub(super) fn post(
        &self,
        body: Bytes,
        charge: Option<Charge>,
        said: Said,
        granted: Granted,
    ) -> Option<Posted> {
        let charge = charge.map(|charge| Arc::new(charge) as _);
        let sender = SentBy {
            caller: (&self.account.holder).into(),
            charge,
        };
        let mut asked = false;
        let reader = self.shared.take_in(
            &self.handle,
            (granted, sender),
            |machine, now| {
                let reader = machine.receiving().then(|| self.streams().take_in());
                machine.handle(now, Input::Frame(body));
                reader
            },
            |requests| {
                asked = !requests.is_empty();
                self.streams().taken_in(requests);
            },
        );
        self.give_up_if_over();
        let reader = reader?;
        if said == Said::Opening {
            self.streams().polling = self.polls();
        }
        self.touch();
        Some(Posted { reader, asked })
    }
}

/// One that nobody kept, because its client left while it was made.
impl Drop for Session {
    fn drop(&mut self) {
        if !self.shared.look(Connection::has_ended) {
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
        http::{HttpOptions, HttpService, streams::Message},
    };

    #[derive(Deserialize, JsonSchema)]
    struct Wait {
        wait: bool,
    }

    fn call(id: u32, wait: bool) -> Value {
        let params = json!({"name": "wait", "arguments": {"wait": wait}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    }

    fn post(session: &Session, message: &Value, said: Said) -> Option<Posted> {
        session.post(message.to_string().into(), None, said, Granted::Everything)
    }

    async fn answer(posted: Option<Posted>) -> String {
        let mut messages = posted.expect("the session is open").reader.messages;
        match messages.recv().await {
            Some(Message::Frame { frame, .. }) => String::from_utf8_lossy(&frame).into_owned(),
            other => format!("{other:?}"),
        }
    }

    /// A session with a tool that says when it waits, does so until it is let
    /// go, and answers whether it was.
    async fn with_a_gate(
        enters: mpsc::Sender<()>,
        let_go: mpsc::Receiver<()>,
    ) -> (HttpService, Arc<Session>) {
        let gate = Arc::new(Mutex::new((enters, let_go)));
        let work = move |input: Wait| {
            let gate = Arc::clone(&gate);
            async move {
                let (enters, let_go) = &*lock(&gate);
                let held = !input.wait || enters.send(()).is_ok();
                let free = !input.wait || let_go.recv_timeout(Duration::from_secs(10)).is_ok();
                Ok((held && free).to_string())
            }
        };
        let wait = Tool::new("wait").description("Waits").input::<Wait>();
        let server = Server::new("test", "1").tool(wait.headless(work));
        let http = server.build().unwrap().http(HttpOptions::default());
        let whose = Whose {
            principal: None,
            account: Arc::clone(http.inner.accounts.of_unknown()),
        };
        let session = Session::new(&http.inner, SessionId::new("test").unwrap(), whose);
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let opening = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let opened = answer(post(&session, &opening, Said::Opening)).await;
        assert!(opened.contains("2025-11-25"), "{opened}");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert!(post(&session, &initialized, Said::Other).is_some());
        (http, session)
    }

    /// One that was quick runs where its call was read. If it blocks there, for
    /// once, others can post all the same.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_tool_that_blocks_holds_up_its_own_post_alone() {
        let (enters, entered) = mpsc::channel();
        let (lets_go, let_go) = mpsc::channel();
        let (_http, session) = with_a_gate(enters, let_go).await;
        for id in 1..50 {
            let quick = answer(post(&session, &call(id, false), Said::Other)).await;
            assert!(quick.contains("true"), "{quick}");
        }
        let blocked = Arc::clone(&session);
        let blocked =
            tokio::task::spawn_blocking(move || post(&blocked, &call(50, true), Said::Other));
        let entered = tokio::task::spawn_blocking(move || entered.recv());
        entered.await.unwrap().unwrap();
        let ping = json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"});
        let pong = answer(post(&session, &ping, Said::Other)).await;
        assert!(pong.contains("\"ping\""), "{pong}");
        lets_go.send(()).unwrap();
        let waited = answer(blocked.await.unwrap()).await;
        assert!(waited.contains("true"), "{waited}");
    }
}

//! One session of the older revisions.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Instant;

use super::{
    Inner,
    made_of::MadeOf,
    notes::Notes,
    post::Said,
    recorder::Recorder,
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
        request::Handle,
        seal::random_bytes,
        serve::{Outlet, Shared},
    },
};

/// A session, with a machine of its own.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) principal: Option<Arc<str>>,
    pub(super) made_of: Mutex<MadeOf>,
    handle: Arc<dyn Handle>,
    shared: Arc<Shared>,
    streams: Arc<Mutex<Streams>>,
    used: Mutex<Instant>,
    /// Whoever makes work for the machine, or ends it, does so alone: what was
    /// begun for a session that is over would never be given up.
    turn: Mutex<()>,
}

/// What came of a POST.
pub(super) struct Posted {
    /// Where the answers can be read.
    pub(super) reader: Reader,
    /// Whether there are requests that somebody works on.
    pub(super) asked: bool,
}

/// Where the machine's frames go.
struct SessionOutlet(Arc<Mutex<Streams>>);

impl Outlet for SessionOutlet {
    fn send(&mut self, about: Option<Incoming>, answer: bool, frame: Bytes) {
        lock(&self.0).send(about, answer, frame);
    }

    fn called_off(&mut self, request: Incoming) {
        lock(&self.0).called_off(request);
    }

    fn pause(&mut self, request: Incoming) -> bool {
        lock(&self.0).pause(request)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing of ours that holds a lock panics halfway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(super) fn new(inner: &Inner, id: SessionId, principal: Option<Arc<str>>) -> Arc<Self> {
        let (handle, options) = (&inner.handle, &inner.options);
        let incarnation = u64::from_le_bytes(random_bytes());
        let store = options.event_store.as_ref();
        let notes = store.map(|store| Notes::new(Arc::clone(store), id.clone(), options.idle));
        let budget = inner.budget.clone();
        let recorder = Recorder::new(incarnation, options.replay, budget, notes);
        let streams = Arc::new(Mutex::new(Streams::new(recorder)));
        let machine = Connection::new(Arc::clone(handle.config()));
        let outlet = Box::new(SessionOutlet(Arc::clone(&streams)));
        let serving = handle.serving().clone();
        let shared = Shared::with_outlet(machine, outlet, serving, principal.clone());
        inner.connections.register(&shared);
        Arc::new(Self {
            id,
            principal,
            made_of: Mutex::default(),
            handle: Arc::clone(handle),
            shared,
            streams,
            used: Mutex::new(Instant::now()),
            turn: Mutex::default(),
        })
    }

    pub(super) fn touch(&self) {
        *lock(&self.used) = Instant::now();
    }

    /// When the session is to be closed, if nothing happens until then.
    pub(super) fn expires(&self, idle: Duration) -> Instant {
        if self.streams().is_used() {
            return Instant::now() + idle;
        }
        *lock(&self.used) + idle
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn streams(&self) -> MutexGuard<'_, Streams> {
        lock(&self.streams)
    }

    /// Does what came of something that happened by itself.
    pub(super) fn attend(&self) {
        let _turn = lock(&self.turn);
        self.shared.attend(&self.handle);
    }

    /// Ends the session, and all that was begun for it.
    pub(super) fn close(&self) {
        let _turn = lock(&self.turn);
        self.shared.close(&self.handle);
        self.streams().close();
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

    /// Takes in what was posted; nothing, if the session is over.
    pub(super) fn post(&self, body: Bytes, said: Said, granted: Granted) -> Option<Posted> {
        let _turn = lock(&self.turn);
        self.shared.grant(granted);
        let mut asked = false;
        let reader = self.shared.take_in(
            &self.handle,
            |machine, now| {
                let reader = machine.receiving().then(|| self.streams().take_in());
                machine.handle(now, Input::Frame(body));
                reader
            },
            |requests| {
                asked = !requests.is_empty();
                self.streams().taken_in(requests);
            },
        )?;
        if said == Said::Opening {
            self.streams().polling = self.polls();
        }
        self.touch();
        Some(Posted { reader, asked })
    }
}

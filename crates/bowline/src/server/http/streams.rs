//! Which stream of a session a message goes to.
//!
//! What belongs to a request goes to the stream that its POST opened, all else
//! to the stream that a GET opened. Every message of a stream is recorded, so
//! that a client whose connection broke can come back for the rest.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::proto::{
    http::resume::{EventId, Replay, ReplayLimits, ReplayMiss, StreamId},
    server::Incoming,
};

/// How much may wait in a stream that is not read, before what is not an
/// answer is dropped.
const MOST_WAITING: usize = 1024 * 1024;
/// How many messages wait for a stream of the server's own to be opened.
const MOST_HELD: usize = 64;

/// The streams of one session.
pub(super) struct Streams {
    replay: Replay,
    open: HashMap<Key, Stream>,
    /// Where the answer to each request goes.
    routes: HashMap<Incoming, Key>,
    /// The stream of the server's own.
    own: Option<Key>,
    /// What waits for it.
    held: VecDeque<Bytes>,
    /// The stream of the POST that is taken in at this moment.
    taking_in: Option<Key>,
    next: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(u64);

struct Stream {
    recorded: Option<StreamId>,
    listener: Option<Listener>,
    /// How many answers are still to come; none end the server's own stream.
    answers: usize,
}

struct Listener {
    sender: mpsc::UnboundedSender<Message>,
    waiting: Arc<AtomicUsize>,
}

/// Something for a stream.
#[derive(Debug)]
pub(super) enum Message {
    /// A frame.
    Frame {
        id: Option<EventId>,
        /// Nothing follows in this stream.
        last: bool,
        frame: Bytes,
    },
    /// The connection is to be closed; the client comes back for the rest.
    Pause,
}

/// The reading end of a stream.
pub(super) struct Reader {
    pub(super) key: Key,
    /// From where the stream can be resumed before anything was said.
    pub(super) prime: Option<EventId>,
    messages: mpsc::UnboundedReceiver<Message>,
    waiting: Arc<AtomicUsize>,
}

impl Reader {
    pub(super) async fn recv(&mut self) -> Option<Message> {
        std::future::poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// Whether nothing waits, and nothing will come.
    pub(super) fn is_over(&self) -> bool {
        self.messages.is_empty() && self.messages.is_closed()
    }

    pub(super) fn poll_recv(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Message>> {
        self.messages.poll_recv(cx).map(|message| {
            if let Some(Message::Frame { frame, .. }) = &message {
                self.waiting.fetch_sub(frame.len(), Ordering::Relaxed);
            }
            message
        })
    }
}

impl Streams {
    pub(super) fn new(incarnation: u64) -> Self {
        Self {
            replay: Replay::new(incarnation, ReplayLimits::default()),
            open: HashMap::new(),
            routes: HashMap::new(),
            own: None,
            held: VecDeque::new(),
            taking_in: None,
            next: 0,
        }
    }

    /// Opens the stream of a POST. What is answered at once goes there.
    pub(super) fn take_in(&mut self) -> Reader {
        let reader = self.add(0);
        self.taking_in = Some(reader.key);
        reader
    }

    /// The POST was taken in; these requests are to be answered in its stream.
    pub(super) fn taken_in(&mut self, requests: &[Incoming]) {
        let Some(key) = self.taking_in.take() else {
            return;
        };
        for request in requests {
            self.routes.insert(*request, key);
        }
        if let Some(stream) = self.open.get_mut(&key) {
            stream.answers = requests.len();
        }
        if requests.is_empty() {
            self.end(key);
        }
    }

    /// Opens the stream of the server's own; an earlier one ends.
    pub(super) fn open_own(&mut self) -> Reader {
        if let Some(earlier) = self.own.take() {
            self.end(earlier);
        }
        let reader = self.add(usize::MAX);
        self.own = Some(reader.key);
        for frame in std::mem::take(&mut self.held) {
            self.say(reader.key, false, false, frame);
        }
        reader
    }

    /// Opens a stream again: what came after the cursor, and what is to come.
    pub(super) fn resume(&mut self, cursor: EventId) -> Result<Reader, ReplayMiss> {
        let missed: Vec<_> = self.replay.replay_after(cursor)?.collect();
        let missed: Vec<_> = missed
            .into_iter()
            .map(|(id, frame)| (id, frame.clone()))
            .collect();
        let recorded = cursor.stream();
        let open = self.open.iter_mut();
        let going_on = open
            .into_iter()
            .find(|(_, stream)| stream.recorded == Some(recorded));
        let (listener, mut reader) = channel(Key(0));
        for (id, frame) in missed {
            listener.say(Some(id), false, frame);
        }
        if let Some((key, stream)) = going_on {
            reader.key = *key;
            stream.listener = Some(listener);
        }
        Ok(reader)
    }

    /// Sends what the machine says.
    pub(super) fn send(&mut self, about: Option<Incoming>, answer: bool, frame: Bytes) {
        let route = about.and_then(|request| self.routes.get(&request).copied());
        let at_once = self.taking_in.filter(|_| answer && about.is_none());
        let Some(key) = route.or(at_once).or(self.own) else {
            self.held.push_back(frame);
            if self.held.len() > MOST_HELD {
                self.held.pop_front();
            }
            return;
        };
        let stream = self.open.get(&key);
        let last = answer && about.is_some() && stream.is_some_and(|it| it.answers == 1);
        self.say(key, answer, last, frame);
        if let Some(request) = about.filter(|_| answer) {
            self.routes.remove(&request);
            self.answered(key);
        }
    }

    /// Closes the connection of a request's stream, not the stream.
    pub(super) fn pause(&mut self, request: Incoming) -> bool {
        let stream = self
            .routes
            .get(&request)
            .and_then(|key| self.open.get_mut(key));
        let Some(stream) = stream.filter(|stream| stream.recorded.is_some()) else {
            return false;
        };
        let listener = stream.listener.take();
        listener.is_some_and(|listener| listener.sender.send(Message::Pause).is_ok())
    }

    /// Nobody will come back for this recording.
    pub(super) fn forget_recording(&mut self, id: EventId) {
        self.replay.forget(id.stream());
    }

    /// Ends all streams.
    pub(super) fn close(&mut self) {
        self.open.clear();
        self.routes.clear();
        self.held.clear();
        self.own = None;
    }

    /// Whether somebody listens, or waits for an answer.
    pub(super) fn is_used(&self) -> bool {
        let listens = |stream: &Stream| {
            let listener = stream.listener.as_ref();
            listener.is_some_and(|listener| !listener.sender.is_closed())
        };
        !self.routes.is_empty() || self.open.values().any(listens)
    }

    fn add(&mut self, answers: usize) -> Reader {
        self.next += 1;
        let key = Key(self.next);
        let recorded = self.replay.open();
        let (listener, mut reader) = channel(key);
        reader.prime = recorded.and_then(|stream| self.replay.prime(stream));
        let stream = Stream {
            recorded,
            listener: Some(listener),
            answers,
        };
        self.open.insert(key, stream);
        reader
    }

    fn say(&mut self, key: Key, answer: bool, last: bool, frame: Bytes) {
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        if !answer && stream.listener.as_ref().is_some_and(Listener::is_behind) {
            return;
        }
        let record = |recorded| self.replay.record(recorded, frame.clone());
        let id = stream.recorded.and_then(record);
        if let Some(listener) = &stream.listener {
            listener.say(id, last, frame);
        }
    }

    fn answered(&mut self, key: Key) {
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        stream.answers = stream.answers.saturating_sub(1);
        if stream.answers == 0 {
            self.end(key);
        }
    }

    fn end(&mut self, key: Key) {
        if let Some(recorded) = self.open.remove(&key).and_then(|stream| stream.recorded) {
            self.replay.end(recorded);
        }
    }
}

impl Listener {
    fn say(&self, id: Option<EventId>, last: bool, frame: Bytes) {
        self.waiting.fetch_add(frame.len(), Ordering::Relaxed);
        // Who went away may come back, and is told then.
        let _ = self.sender.send(Message::Frame { id, last, frame });
    }

    fn is_behind(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > MOST_WAITING
    }
}

fn channel(key: Key) -> (Listener, Reader) {
    let (sender, messages) = mpsc::unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let listener = Listener {
        sender,
        waiting: Arc::clone(&waiting),
    };
    let reader = Reader {
        key,
        prime: None,
        messages,
        waiting,
    };
    (listener, reader)
}

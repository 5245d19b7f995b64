//! Which stream of a session a message goes to.
//!
//! What belongs to a request goes to the stream that its POST opened, all else
//! to the stream that a GET opened. Once the client has been shown a stream,
//! its messages are recorded, so that a client whose connection broke can come
//! back for the rest.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::{
    pipe::{Receiver, Sender, Weigh, pipe},
    recorder::Recorder,
};
use crate::proto::{
    http::resume::{EventId, ReplayMiss, StreamId},
    server::Incoming,
};

/// How many messages wait for a stream of the server's own to be opened.
const MOST_HELD: usize = 64;
/// How many bytes they have. Many sessions have no such stream, ever.
const MOST_HELD_BYTES: usize = 64 * 1024;

/// The streams of one session.
pub(super) struct Streams {
    recorder: Recorder,
    open: BTreeMap<Key, Stream>,
    /// Where the answer to each request goes.
    routes: BTreeMap<Incoming, Key>,
    /// The stream of the server's own.
    own: Option<Key>,
    /// What waits for it.
    held: VecDeque<Bytes>,
    held_bytes: usize,
    /// The stream of the POST that is taken in at this moment.
    taking_in: Option<Key>,
    /// Whether the client comes back to streams that are closed early.
    pub(super) polling: bool,
    next: u64,
    /// The session is over; what is opened from here on ends at once.
    over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

struct Stream {
    listener: Option<Sender<Message>>,
    /// How many answers are still to come; none end the server's own stream.
    answers: usize,
    shown: Option<Recording>,
}

/// A stream that the client was shown.
#[derive(Clone, Copy)]
struct Recording(Option<StreamId>);

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
    /// A frame that was sent elsewhere, under this id.
    Noted { id: String, frame: Bytes },
    /// The connection is to be closed; the client comes back for the rest.
    Pause,
}

impl Shown {
    /// How many bytes it begins with.
    pub(super) fn bytes(&self) -> usize {
        self.messages.iter().map(Weigh::weight).sum()
    }
}

impl Weigh for Message {
    fn weight(&self) -> usize {
        match self {
            Self::Frame { frame, .. } | Self::Noted { frame, .. } => frame.len(),
            Self::Pause => 0,
        }
    }
}

/// The reading end of a stream.
pub(super) struct Reader {
    key: Key,
    pub(super) messages: Receiver<Message>,
}

/// How a stream begins that a client is shown.
pub(super) struct Shown {
    /// From where the stream can be resumed before anything was said.
    pub(super) prime: Option<EventId>,
    pub(super) messages: VecDeque<Message>,
}

/// What is posted, and where it is answered.
impl Streams {
    pub(super) fn new(recorder: Recorder) -> Self {
        Self {
            recorder,
            open: BTreeMap::new(),
            routes: BTreeMap::new(),
            own: None,
            held: VecDeque::new(),
            held_bytes: 0,
            taking_in: None,
            polling: false,
            next: 0,
            over: false,
        }
    }

    /// Opens the stream of a POST. What is answered at once goes there.
    pub(super) fn take_in(&mut self) -> Reader {
        let reader = self.add(0, None);
        self.taking_in = Some(reader.key);
        reader
    }

    /// The POST was taken in: these requests are to be answered in its stream.
    pub(super) fn taken_in(&mut self, requests: Vec<Incoming>) {
        let Some(stream) = self.taking_in.take() else {
            return;
        };
        if requests.is_empty() {
            self.end(stream);
        } else if let Some(open) = self.open.get_mut(&stream) {
            open.answers = requests.len();
        }
        let routes = requests.into_iter().map(|request| (request, stream));
        self.routes.extend(routes);
    }

    /// Sends what the machine says.
    pub(super) fn send(&mut self, about: Option<Incoming>, answer: bool, frame: Bytes) {
        let route = about.and_then(|request| self.routes.get(&request).copied());
        let at_once = self.taking_in.filter(|_| answer && about.is_none());
        let Some(key) = route.or(at_once).or(self.own) else {
            self.hold(frame);
            return;
        };
        self.say(key, answer, about.is_some(), frame);
        if let Some(request) = about.filter(|_| answer) {
            self.finish(request);
        }
    }

    /// Whether the client reads the stream of a request so slowly that what can
    /// be left out should be. Questions cannot: somebody waits for their
    /// answers.
    pub(super) fn is_behind(&self, request: Incoming) -> bool {
        let stream = self.routes.get(&request);
        let stream = stream.and_then(|key| self.open.get(key));
        let listener = stream.and_then(|stream| stream.listener.as_ref());
        listener.is_some_and(Sender::is_behind)
    }

    /// A request is not to be answered any more. One that was answered in the
    /// meantime, or came and went in one POST, has no route.
    pub(super) fn called_off(&mut self, request: Incoming) {
        self.finish(request);
    }

    /// Closes the connection of a request's stream, not the stream.
    pub(super) fn pause(&mut self, request: Incoming) -> bool {
        let stream = self.routes.get(&request);
        let stream = stream.and_then(|key| self.open.get_mut(key));
        let Some(stream) = stream.filter(|_| self.polling) else {
            return false;
        };
        match stream.shown {
            // Whoever shows it closes it then.
            None => {
                let listener = stream.listener.as_ref();
                listener.is_some_and(|listener| listener.send(Message::Pause))
            }
            Some(Recording(Some(recorded))) if self.recorder.keeps(recorded) => {
                let listener = stream.listener.take();
                listener.is_some_and(|listener| listener.send(Message::Pause))
            }
            Some(Recording(_)) => false,
        }
    }

    fn say(&mut self, key: Key, answer: bool, counted: bool, frame: Bytes) {
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        let own = self.own == Some(key);
        if own && stream.listener.as_ref().is_some_and(Sender::is_behind) {
            // It is told when it comes back, as far as there is room.
            stream.listener = None;
        }
        let recorded = stream.shown.and_then(|shown| shown.0);
        let id = recorded.and_then(|stream| self.recorder.record(stream, own, frame.clone()));
        let last = answer && counted && stream.answers == 1;
        let message = Message::Frame {
            id,
            last,
            frame: frame.clone(),
        };
        let listener = stream.listener.as_ref();
        let heard = listener.is_some_and(|listener| listener.send(message));
        if own && !heard {
            self.hold(frame);
        }
    }

    /// Keeps something for the next stream of the server's own.
    fn hold(&mut self, frame: Bytes) {
        // One notice of a change is enough.
        if self.held.contains(&frame) || frame.len() > MOST_HELD_BYTES / 4 {
            return;
        }
        self.held_bytes += frame.len();
        self.held.push_back(frame);
        while self.held.len() > MOST_HELD || self.held_bytes > MOST_HELD_BYTES {
            let dropped = self.held.pop_front();
            self.held_bytes -= dropped.map_or(0, |it| it.len());
        }
    }

    /// How many bytes wait for a stream of the server's own.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    fn take_held(&mut self) -> VecDeque<Bytes> {
        self.held_bytes = 0;
        std::mem::take(&mut self.held)
    }

    /// Nothing more is said about a request.
    fn finish(&mut self, request: Incoming) {
        let Some(key) = self.routes.remove(&request) else {
            return;
        };
        give_back(&mut self.routes);
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        stream.answers = stream.answers.saturating_sub(1);
        if stream.answers == 0 {
            self.end(key);
        }
    }
}

/// Streams that clients are shown.
impl Streams {
    /// The client is shown the stream of its POST: what comes in it is recorded
    /// from here on, and what came already, too.
    pub(super) fn show(&mut self, reader: &mut Reader, first: Option<Message>) -> Shown {
        let recorded = self.recorder.open();
        let prime = recorded.and_then(|stream| self.recorder.prime(stream));
        let waiting = std::iter::from_fn(|| reader.messages.try_recv());
        let (mut messages, mut paused) = (VecDeque::new(), false);
        for message in first.into_iter().chain(waiting) {
            let Message::Frame { last, frame, .. } = message else {
                paused = recorded.is_some_and(|stream| self.recorder.keeps(stream));
                continue;
            };
            let id = recorded.and_then(|stream| self.recorder.record(stream, false, frame.clone()));
            if !paused {
                messages.push_back(Message::Frame { id, last, frame });
            }
        }
        if paused {
            messages.push_back(Message::Pause);
        }
        match (self.open.get_mut(&reader.key), recorded) {
            (Some(stream), _) => {
                stream.shown = Some(Recording(recorded));
                stream.listener.take_if(|_| paused);
            }
            (None, Some(recorded)) => self.recorder.end(recorded),
            (None, None) => {}
        }
        Shown { prime, messages }
    }

    /// Opens the stream of the server's own; an earlier one ends.
    pub(super) fn open_own(&mut self) -> (Reader, Shown) {
        if let Some(earlier) = self.own.take() {
            let recorded = self.end(earlier);
            // What nobody heard there comes here, and must not come twice.
            if let Some(recorded) = recorded.filter(|_| !self.held.is_empty()) {
                self.recorder.forget(recorded);
            }
        }
        let recorded = self.recorder.open();
        let prime = recorded.and_then(|stream| self.recorder.prime(stream));
        let reader = self.add(usize::MAX, Some(Recording(recorded)));
        self.own = Some(reader.key);
        for frame in self.take_held() {
            self.say(reader.key, false, false, frame);
        }
        let messages = VecDeque::new();
        (reader, Shown { prime, messages })
    }

    /// Opens a stream again: what came after the cursor, and what is to come.
    pub(super) fn resume(&mut self, cursor: EventId) -> Result<(Reader, Shown), ReplayMiss> {
        let missed = self.recorder.after(cursor)?;
        let missed = missed.into_iter().map(|(id, frame)| Message::Frame {
            id: Some(id),
            last: false,
            frame,
        });
        let messages = missed.collect();
        let recorded = Some(cursor.stream());
        let mut open = self.open.iter_mut();
        let going_on = open.find(|(_, stream)| stream.shown.is_some_and(|it| it.0 == recorded));
        let (listener, mut reader) = unheard();
        if let Some((key, stream)) = going_on {
            reader.key = *key;
            stream.listener = Some(listener);
            if self.own == Some(reader.key) {
                self.take_held();
            }
        }
        let prime = None;
        Ok((reader, Shown { prime, messages }))
    }

    /// A stream that nothing more comes in.
    pub(super) fn closed() -> (Reader, Shown) {
        let (prime, messages) = (None, VecDeque::new());
        (unheard().1, Shown { prime, messages })
    }

    /// Ends all streams, and those that somebody is about to open.
    pub(super) fn close(&mut self) {
        self.over = true;
        self.open.clear();
        self.routes.clear();
        self.take_held();
        self.own = None;
    }

    /// Whether somebody is connected.
    pub(super) fn is_used(&self) -> bool {
        let listens = |stream: &Stream| {
            let listener = stream.listener.as_ref();
            listener.is_some_and(|listener| !listener.is_closed())
        };
        self.open.values().any(listens)
    }

    fn add(&mut self, answers: usize, shown: Option<Recording>) -> Reader {
        self.next += 1;
        let key = Key(self.next);
        let (listener, mut reader) = unheard();
        reader.key = key;
        let stream = Stream {
            listener: Some(listener),
            answers,
            shown,
        };
        if !self.over {
            self.open.insert(key, stream);
        }
        reader
    }

    /// Ends a stream; says as what it was recorded.
    fn end(&mut self, key: Key) -> Option<StreamId> {
        let ended = self.open.remove(&key)?;
        give_back(&mut self.open);
        let recorded = ended.shown?.0?;
        self.recorder.end(recorded);
        Some(recorded)
    }
}

/// A map keeps room for some entries when it is empty again. Most sessions are
/// idle most of the time, and there may be many.
fn give_back<K, V>(map: &mut BTreeMap<K, V>) {
    if map.is_empty() {
        *map = BTreeMap::new();
    }
}

/// The two ends of a stream that is none of the session's yet.
fn unheard() -> (Sender<Message>, Reader) {
    let (listener, messages) = pipe();
    let key = Key(0);
    (listener, Reader { key, messages })
}

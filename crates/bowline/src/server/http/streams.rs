//! Routes messages to the streams of a session.
//!
//! A message that belongs to a request goes to the stream of its POST, all
//! others to the standalone stream of a GET. Once a stream is sent to the
//! client, its messages are recorded, so a client can resume it if its
//! connection breaks.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::{
    byte_queue::{ByteSize, Receiver, Sender, channel},
    recorder::Recorder,
};
use crate::proto::{
    http::resume::{EventId, ReplayError, StreamId},
    server::RequestKey,
};

/// How many messages are held until a standalone stream is opened.
const MAX_HELD_MESSAGES: usize = 64;
/// How many bytes are held. Many sessions never open such a stream.
const MAX_HELD_BYTES: usize = 64 * 1024;

/// The streams of one session.
pub(super) struct Streams {
    recorder: Recorder,
    open: BTreeMap<StreamKey, Stream>,
    /// The stream of each request's response.
    routes: BTreeMap<RequestKey, StreamKey>,
    /// The standalone stream.
    standalone: Option<StreamKey>,
    /// The messages held for it.
    held: VecDeque<Bytes>,
    held_bytes: usize,
    /// The stream of the POST being processed.
    current_post: Option<StreamKey>,
    /// Whether the client resumes streams that are closed early.
    pub(super) polling: bool,
    next_key: u64,
    /// Whether the session is closed; streams opened after that end at once.
    is_ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StreamKey(u64);

struct Stream {
    listener: Option<Sender<StreamMessage>>,
    /// The number of pending responses; unused for the standalone stream.
    pending_responses: usize,
    recording: Option<Recording>,
}

/// The recording of a stream that the client was sent.
#[derive(Clone, Copy)]
struct Recording(Option<StreamId>);

/// A message for a stream.
#[derive(Debug)]
pub(super) enum StreamMessage {
    /// A frame.
    Frame {
        id: Option<EventId>,
        /// Whether it is the last of the stream.
        last: bool,
        frame: Bytes,
    },
    /// A frame sent by another node, with this id.
    Stored { id: String, frame: Bytes },
    /// Closes the connection; the client resumes for the rest.
    Release,
}

impl StreamStart {
    /// Returns the number of initial bytes.
    pub(super) fn bytes(&self) -> usize {
        self.messages.iter().map(ByteSize::byte_size).sum()
    }
}

impl ByteSize for StreamMessage {
    fn byte_size(&self) -> usize {
        match self {
            Self::Frame { frame, .. } | Self::Stored { frame, .. } => frame.len(),
            Self::Release => 0,
        }
    }
}

/// The reading half of a stream.
pub(super) struct Reader {
    key: StreamKey,
    pub(super) messages: Receiver<StreamMessage>,
}

/// The start of a stream sent to a client.
pub(super) struct StreamStart {
    /// The event id to resume the stream from its start.
    pub(super) priming_id: Option<EventId>,
    pub(super) messages: VecDeque<StreamMessage>,
}

/// POSTs and their responses.
impl Streams {
    pub(super) fn new(recorder: Recorder) -> Self {
        Self {
            recorder,
            open: BTreeMap::new(),
            routes: BTreeMap::new(),
            standalone: None,
            held: VecDeque::new(),
            held_bytes: 0,
            current_post: None,
            polling: false,
            next_key: 0,
            is_ended: false,
        }
    }

    /// Opens the stream of a POST. Immediate responses go there.
    pub(super) fn open_post(&mut self) -> Reader {
        let reader = self.add(0, None);
        self.current_post = Some(reader.key);
        reader
    }

    /// Routes the responses of these requests to the stream of the POST.
    pub(super) fn post_accepted(&mut self, requests: Vec<RequestKey>) {
        let Some(stream) = self.current_post.take() else {
            return;
        };
        if requests.is_empty() {
            self.end(stream);
        } else if let Some(open) = self.open.get_mut(&stream) {
            open.pending_responses = requests.len();
        }
        let routes = requests.into_iter().map(|request| (request, stream));
        self.routes.extend(routes);
    }

    /// Routes a frame from the machine.
    pub(super) fn send(
        &mut self,
        for_request: Option<RequestKey>,
        is_response: bool,
        frame: Bytes,
    ) {
        let route = for_request.and_then(|request| self.routes.get(&request).copied());
        let current = self
            .current_post
            .filter(|_| is_response && for_request.is_none());
        let Some(key) = route.or(current).or(self.standalone) else {
            self.hold(frame);
            return;
        };
        self.write(key, is_response, for_request.is_some(), frame);
        if let Some(request) = for_request.filter(|_| is_response) {
            self.finish(request);
        }
    }

    /// Returns whether the client reads the stream of a request so slowly that
    /// optional messages should be dropped. Questions are not optional: a
    /// handler waits for their answers.
    pub(super) fn is_backlogged(&self, request: RequestKey) -> bool {
        let stream = self.routes.get(&request);
        let stream = stream.and_then(|key| self.open.get(key));
        let listener = stream.and_then(|stream| stream.listener.as_ref());
        listener.is_some_and(Sender::is_backlogged)
    }

    /// Removes the route of a cancelled request. One that was answered
    /// meanwhile, or was cancelled within its own POST, has no route.
    pub(super) fn cancelled(&mut self, request: RequestKey) {
        self.finish(request);
    }

    /// Closes the connection of a request's stream, but not the stream.
    pub(super) fn release_connection(&mut self, request: RequestKey) -> bool {
        let stream = self.routes.get(&request);
        let stream = stream.and_then(|key| self.open.get_mut(key));
        let Some(stream) = stream.filter(|_| self.polling) else {
            return false;
        };
        match stream.recording {
            // Closed once it is sent to the client.
            None => {
                let listener = stream.listener.as_ref();
                listener.is_some_and(|listener| listener.send(StreamMessage::Release))
            }
            Some(Recording(Some(recorded))) if self.recorder.is_recorded(recorded) => {
                let listener = stream.listener.take();
                listener.is_some_and(|listener| listener.send(StreamMessage::Release))
            }
            Some(Recording(_)) => false,
        }
    }

    fn write(&mut self, key: StreamKey, is_response: bool, is_routed: bool, frame: Bytes) {
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        let is_standalone = self.standalone == Some(key);
        if is_standalone && stream.listener.as_ref().is_some_and(Sender::is_backlogged) {
            // It is delivered on resumption, as far as there is room.
            stream.listener = None;
        }
        let recorded = stream.recording.and_then(|recording| recording.0);
        let id =
            recorded.and_then(|stream| self.recorder.record(stream, is_standalone, frame.clone()));
        let last = is_response && is_routed && stream.pending_responses == 1;
        let message = StreamMessage::Frame {
            id,
            last,
            frame: frame.clone(),
        };
        let listener = stream.listener.as_ref();
        let is_delivered = listener.is_some_and(|listener| listener.send(message));
        if is_standalone && !is_delivered {
            self.hold(frame);
        }
    }

    /// Holds a frame for the next standalone stream.
    fn hold(&mut self, frame: Bytes) {
        // One notification per change is enough.
        if self.held.contains(&frame) || frame.len() > MAX_HELD_BYTES / 4 {
            return;
        }
        self.held_bytes += frame.len();
        self.held.push_back(frame);
        while self.held.len() > MAX_HELD_MESSAGES || self.held_bytes > MAX_HELD_BYTES {
            let dropped = self.held.pop_front();
            self.held_bytes -= dropped.map_or(0, |it| it.len());
        }
    }

    /// Returns how many bytes are held for a standalone stream.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    fn take_held(&mut self) -> VecDeque<Bytes> {
        self.held_bytes = 0;
        std::mem::take(&mut self.held)
    }

    /// Ends the messages of a request.
    fn finish(&mut self, request: RequestKey) {
        let Some(key) = self.routes.remove(&request) else {
            return;
        };
        shrink_if_empty(&mut self.routes);
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        stream.pending_responses = stream.pending_responses.saturating_sub(1);
        if stream.pending_responses == 0 {
            self.end(key);
        }
    }
}

/// Streams sent to clients.
impl Streams {
    /// Starts sending the stream of a POST to the client: its messages are
    /// recorded from here on, including those already queued.
    pub(super) fn start(
        &mut self,
        reader: &mut Reader,
        first: Option<StreamMessage>,
    ) -> StreamStart {
        let recorded = self.recorder.open();
        let priming_id = recorded.and_then(|stream| self.recorder.priming_id(stream));
        let waiting = std::iter::from_fn(|| reader.messages.try_recv());
        let (mut messages, mut is_released) = (VecDeque::new(), false);
        for message in first.into_iter().chain(waiting) {
            let StreamMessage::Frame { last, frame, .. } = message else {
                is_released = recorded.is_some_and(|stream| self.recorder.is_recorded(stream));
                continue;
            };
            let id = recorded.and_then(|stream| self.recorder.record(stream, false, frame.clone()));
            if !is_released {
                messages.push_back(StreamMessage::Frame { id, last, frame });
            }
        }
        if is_released {
            messages.push_back(StreamMessage::Release);
        }
        match (self.open.get_mut(&reader.key), recorded) {
            (Some(stream), _) => {
                stream.recording = Some(Recording(recorded));
                stream.listener.take_if(|_| is_released);
            }
            (None, Some(recorded)) => self.recorder.end(recorded),
            (None, None) => {}
        }
        StreamStart {
            priming_id,
            messages,
        }
    }

    /// Opens the standalone stream; a previous one ends.
    pub(super) fn open_standalone(&mut self) -> (Reader, StreamStart) {
        if let Some(previous) = self.standalone.take() {
            let recorded = self.end(previous);
            // Undelivered messages are sent here and must not be sent twice.
            if let Some(recorded) = recorded.filter(|_| !self.held.is_empty()) {
                self.recorder.forget(recorded);
            }
        }
        let recorded = self.recorder.open();
        let priming_id = recorded.and_then(|stream| self.recorder.priming_id(stream));
        let reader = self.add(usize::MAX, Some(Recording(recorded)));
        self.standalone = Some(reader.key);
        for frame in self.take_held() {
            self.write(reader.key, false, false, frame);
        }
        let messages = VecDeque::new();
        (
            reader,
            StreamStart {
                priming_id,
                messages,
            },
        )
    }

    /// Resumes a stream: the messages after the cursor and those to come.
    pub(super) fn resume(&mut self, cursor: EventId) -> Result<(Reader, StreamStart), ReplayError> {
        let missed = self.recorder.events_after(cursor)?;
        let missed = missed.into_iter().map(|(id, frame)| StreamMessage::Frame {
            id: Some(id),
            last: false,
            frame,
        });
        let messages = missed.collect();
        let recorded = Some(cursor.stream());
        let mut open = self.open.iter_mut();
        let open_stream =
            open.find(|(_, stream)| stream.recording.is_some_and(|it| it.0 == recorded));
        let (listener, mut reader) = detached();
        if let Some((key, stream)) = open_stream {
            reader.key = *key;
            stream.listener = Some(listener);
            if self.standalone == Some(reader.key) {
                self.take_held();
            }
        }
        let priming_id = None;
        Ok((
            reader,
            StreamStart {
                priming_id,
                messages,
            },
        ))
    }

    /// Returns a stream that has ended.
    pub(super) fn closed() -> (Reader, StreamStart) {
        let (priming_id, messages) = (None, VecDeque::new());
        (
            detached().1,
            StreamStart {
                priming_id,
                messages,
            },
        )
    }

    /// Ends all streams, and those opened later.
    pub(super) fn close(&mut self) {
        self.is_ended = true;
        self.open.clear();
        self.routes.clear();
        self.take_held();
        self.standalone = None;
    }

    /// Returns whether a connection is open.
    pub(super) fn has_listener(&self) -> bool {
        let is_listening = |stream: &Stream| {
            let listener = stream.listener.as_ref();
            listener.is_some_and(|listener| !listener.is_closed())
        };
        self.open.values().any(is_listening)
    }

    fn add(&mut self, pending_responses: usize, recording: Option<Recording>) -> Reader {
        self.next_key += 1;
        let key = StreamKey(self.next_key);
        let (listener, mut reader) = detached();
        reader.key = key;
        let stream = Stream {
            listener: Some(listener),
            pending_responses,
            recording,
        };
        if !self.is_ended {
            self.open.insert(key, stream);
        }
        reader
    }

    /// Ends a stream and returns the id of its recording.
    fn end(&mut self, key: StreamKey) -> Option<StreamId> {
        let ended = self.open.remove(&key)?;
        shrink_if_empty(&mut self.open);
        let recorded = ended.recording?.0?;
        self.recorder.end(recorded);
        Some(recorded)
    }
}

/// Releases the memory of an empty map. Most sessions are idle most of the
/// time, and there may be many.
fn shrink_if_empty<K, V>(map: &mut BTreeMap<K, V>) {
    if map.is_empty() {
        *map = BTreeMap::new();
    }
}

/// Returns both halves of a stream that is not part of the session yet.
fn detached() -> (Sender<StreamMessage>, Reader) {
    let (listener, messages) = channel();
    let key = StreamKey(0);
    (listener, Reader { key, messages })
}

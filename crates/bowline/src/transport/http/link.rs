//! The HTTP link: its exchanges, and the channel that collects their events.

use std::{
    collections::{HashMap, VecDeque},
    mem,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use reqwest::StatusCode;
use tokio::{
    runtime::Handle,
    task::{JoinHandle, JoinSet},
    time::timeout,
};

use super::{
    KnownEra,
    context::HttpContext,
    event_channel::{self, EventReceiver, EventSender, ExchangeOwner, LinkMessage},
    events::EventStream,
    exchange::Exchange,
    get_stream::GetStream,
    legacy_sse,
    post_request::{FrameKind, PostRequest},
};
use crate::{
    proto::revision::{HttpMode, Revision},
    transport::{
        BoxFuture, CloseTracker, ConnectionErrorKind, Link, LinkEvent, OutgoingFrame, SendError,
    },
};

/// How long the server has to confirm the end of a session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A link that posts each frame in its own exchange.
pub(super) struct HttpLink {
    context: Arc<HttpContext>,
    known_era: KnownEra,
    event_receiver: EventReceiver,
    event_sender: EventSender,
    /// Whether responses arrive on one stream instead of in the response to
    /// each POST.
    is_legacy_sse: bool,
    /// Exchanges that await a response. Dropping them aborts them.
    exchanges: Exchanges,
    /// The request among them whose response may open a session.
    initialize_id: Option<u64>,
    /// Exchanges without a response. Dropping them aborts them.
    posts: JoinSet<()>,
    /// Streams for messages that the server sends on its own. Dropping them
    /// aborts them.
    streams: JoinSet<()>,
    gate: SendGate,
    /// The runtime that tasks run on, whichever thread spawns them.
    runtime: Handle,
    close_tracker: CloseTracker,
}

/// Exchanges by request id. There is one for every call, so a set that also
/// tracks their ends would be too expensive.
#[derive(Default)]
struct Exchanges(HashMap<u64, JoinHandle<()>>);

impl Drop for Exchanges {
    fn drop(&mut self) {
        self.0.values().for_each(JoinHandle::abort);
    }
}

/// Holds frames back after the one that ends the handshake until that one was
/// accepted and the server's GET stream is open: exchanges overtake each other,
/// servers refuse frames that precede the former, and lose messages that
/// precede the latter.
enum SendGate {
    Open,
    Closed(VecDeque<PostRequest>),
}

impl HttpLink {
    /// Creates a streamable HTTP link. Must be called on a runtime.
    pub(super) fn streamable(
        context: Arc<HttpContext>,
        known_era: KnownEra,
        close_tracker: CloseTracker,
    ) -> Self {
        Self::new(context, known_era, close_tracker, false)
    }

    /// Creates a link that receives all frames on `events`. Must be called on a
    /// runtime.
    pub(super) fn legacy_sse(
        context: Arc<HttpContext>,
        known_era: KnownEra,
        close_tracker: CloseTracker,
        events: EventStream,
    ) -> Self {
        let mut link = Self::new(context, known_era, close_tracker, true);
        let reader = legacy_sse::read(events, link.event_sender.clone());
        link.streams.spawn_on(reader, &link.runtime);
        link
    }

    fn new(
        context: Arc<HttpContext>,
        known_era: KnownEra,
        close_tracker: CloseTracker,
        is_legacy_sse: bool,
    ) -> Self {
        let (event_sender, event_receiver) = event_channel::channel(context.limits.max_backlog);
        Self {
            context,
            known_era,
            event_receiver,
            event_sender,
            is_legacy_sse,
            exchanges: Exchanges::default(),
            initialize_id: None,
            posts: JoinSet::new(),
            streams: JoinSet::new(),
            gate: SendGate::Open,
            runtime: Handle::current(),
            close_tracker,
        }
    }

    fn post(&mut self, request: PostRequest) {
        if request.kind == FrameKind::Initialized {
            self.gate = SendGate::Closed(VecDeque::new());
        }
        if request.kind == FrameKind::Initialize {
            self.initialize_id = request.id;
        }
        let owner = request.owner();
        let exchange = Exchange::new(
            Arc::clone(&self.context),
            self.event_sender.guard(owner),
            &request,
            self.is_legacy_sse,
        );
        let task = exchange.run(request);
        if let ExchangeOwner::Request(id) = owner {
            let handle = self.runtime.spawn(task);
            self.exchanges.0.insert(id, handle);
        } else {
            self.posts.spawn_on(task, &self.runtime);
        }
    }

    fn exchange_ended(&mut self, owner: ExchangeOwner) {
        match owner {
            ExchangeOwner::Request(id) => {
                self.exchanges.0.remove(&id);
                self.initialize_id.take_if(|opening| *opening == id);
            }
            ExchangeOwner::Initialized => self.open_get_stream(),
            ExchangeOwner::GetStream => self.open_gate(),
            ExchangeOwner::None => {}
        }
    }

    /// Opens the GET stream once the handshake is done. No other frame is sent
    /// before: questions that the server asks while handling a request may
    /// arrive there, and would be lost without it.
    fn open_get_stream(&mut self) {
        let mode = self.context.rules().map(|rules| rules.http);
        if self.is_legacy_sse || !matches!(mode, Some(HttpMode::Streamable { .. })) {
            self.open_gate();
            return;
        }
        let get_stream = GetStream::new(Arc::clone(&self.context), self.event_sender.clone());
        self.streams.spawn_on(get_stream.run(), &self.runtime);
    }

    /// Takes the frames held at the gate that expect no response: these can
    /// still be sent.
    fn take_unsent(&mut self) -> Vec<BoxFuture<'static, ()>> {
        let SendGate::Closed(queued) = mem::replace(&mut self.gate, SendGate::Open) else {
            return Vec::new();
        };
        let unanswered = queued.into_iter().filter(|request| request.id.is_none());
        unanswered
            .map(|request| {
                let guard = self.event_sender.guard(request.owner());
                let context = Arc::clone(&self.context);
                let exchange = Exchange::new(context, guard, &request, self.is_legacy_sse);
                Box::pin(exchange.run(request)) as _
            })
            .collect()
    }

    fn open_gate(&mut self) {
        if let SendGate::Closed(queued) = mem::replace(&mut self.gate, SendGate::Open) {
            for request in queued {
                self.post(request);
            }
        }
    }
}

impl Link for HttpLink {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        let request = PostRequest::new(&self.context, outgoing)
            .map_err(|reason| SendError::Failed(ConnectionErrorKind::Io(reason).into()))?;
        match &mut self.gate {
            SendGate::Closed(queued) => queued.push_back(request),
            SendGate::Open => self.post(request),
        }
        Ok(())
    }

    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        loop {
            while self.posts.try_join_next().is_some() {}
            while self.streams.try_join_next().is_some() {}
            match self.event_receiver.poll_recv(cx) {
                Poll::Ready(Some(LinkMessage::Event(event, _permit))) => return Poll::Ready(event),
                Poll::Ready(Some(LinkMessage::Last(event, _permit, owner))) => {
                    self.exchange_ended(owner);
                    return Poll::Ready(event);
                }
                Poll::Ready(Some(LinkMessage::Ended(owner))) => self.exchange_ended(owner),
                // The link holds a sender itself, so this does not happen.
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn abort(&mut self, id: u64) {
        if let SendGate::Closed(queued) = &mut self.gate {
            queued.retain(|request| request.id != Some(id));
        }
        if let Some(exchange) = self.exchanges.0.remove(&id) {
            exchange.abort();
        }
    }

    fn set_revision(&mut self, revision: Revision) {
        let rules = revision.rules();
        self.context.set_rules(rules);
        self.known_era.set(rules.era);
    }

    fn close(mut self: Box<Self>) {
        while self.posts.try_join_next().is_some() {}
        let opening = self
            .initialize_id
            .and_then(|id| self.exchanges.0.remove(&id));
        let opening = opening.map(AbortOnDrop);
        if self.posts.is_empty() && opening.is_none() && self.context.session().is_none() {
            return;
        }
        let task = self.close_tracker.start_task();
        let tasks = ClosingTasks {
            opening,
            posts: mem::take(&mut self.posts),
            unsent: self.take_unsent(),
            context: Arc::clone(&self.context),
        };
        self.runtime.spawn(async move {
            tokio::select! {
                result = timeout(CLOSE_TIMEOUT, tasks.run()) => if result == Ok(true) {
                    task.finish();
                },
                () = task.wait_forced() => {}
            }
        });
    }
}

/// The work left when a link is closed.
struct ClosingTasks {
    /// The exchange that may be opening a session. That session is ended, too:
    /// the server would keep it although no client knows it.
    opening: Option<AbortOnDrop>,
    posts: JoinSet<()>,
    unsent: Vec<BoxFuture<'static, ()>>,
    context: Arc<HttpContext>,
}

impl ClosingTasks {
    /// Sends the remaining frames and ends the session. Returns whether no
    /// session is left; nobody is left to receive the reason for a failure.
    async fn run(mut self) -> bool {
        if let Some(opening) = &mut self.opening {
            let _ = (&mut opening.0).await;
        }
        while self.posts.join_next().await.is_some() {}
        for request in self.unsent {
            request.await;
        }
        if self.context.session().is_none() {
            return true;
        }
        match self.context.delete().await {
            Ok(response) => is_session_ended(response.status()),
            Err(_) => false,
        }
    }
}

/// Returns whether a session is over, by the response to its DELETE: it was
/// deleted, or was gone already, or the server does not let clients end
/// sessions and ends them itself.
fn is_session_ended(status: StatusCode) -> bool {
    let is_gone = matches!(
        status,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED
    );
    status.is_success() || is_gone
}

/// Aborts a task when dropped: an exchange that never gets its response would
/// hold its socket forever.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

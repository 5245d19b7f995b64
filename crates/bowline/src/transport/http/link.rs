//! A link over HTTP: exchanges that come and go, and one place for what they bring.

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

/// A link whose frames are posted, each in an exchange of its own.
pub(super) struct HttpLink {
    context: Arc<HttpContext>,
    known_era: KnownEra,
    event_receiver: EventReceiver,
    event_sender: EventSender,
    /// Whether answers come on one stream, and not in answer to each POST.
    is_legacy_sse: bool,
    /// The exchanges that an answer is wanted of. Dropped, they are given up.
    exchanges: Exchanges,
    /// The request among them whose answer may open a session.
    initialize_id: Option<u64>,
    /// What is posted and wants no answer. Dropped, it is given up.
    posts: JoinSet<()>,
    /// What the server speaks on unasked. Dropped, it is given up.
    streams: JoinSet<()>,
    gate: SendGate,
    /// Where tasks run, whoever's thread asks for them.
    runtime: Handle,
    close_tracker: CloseTracker,
}

/// Exchanges by the ids of their requests. There is one for every call, so that
/// a set which also hears of their ends would be a burden.
#[derive(Default)]
struct Exchanges(HashMap<u64, JoinHandle<()>>);

impl Drop for Exchanges {
    fn drop(&mut self) {
        self.0.values().for_each(JoinHandle::abort);
    }
}

/// Frames after the one that ends the handshake wait until it has arrived, and
/// until the server has a stream to speak on: exchanges overtake each other,
/// servers refuse what comes before the one, and say things into the void
/// before the other.
enum SendGate {
    Open,
    Closed(VecDeque<PostRequest>),
}

impl HttpLink {
    /// A link of the usual kind. Must be made on a runtime.
    pub(super) fn streamable(
        context: Arc<HttpContext>,
        known_era: KnownEra,
        close_tracker: CloseTracker,
    ) -> Self {
        Self::new(context, known_era, close_tracker, false)
    }

    /// A link whose frames all arrive on `events`. Must be made on a runtime.
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

    /// The handshake is done, as far as the server told us. Before anything
    /// else is sent, the server gets a stream to speak on: what it has to ask
    /// on the way to an answer may come there, and would be lost without.
    fn open_get_stream(&mut self) {
        let mode = self.context.rules().map(|rules| rules.http);
        if self.is_legacy_sse || !matches!(mode, Some(HttpMode::Streamable { .. })) {
            self.open_gate();
            return;
        }
        let get_stream = GetStream::new(Arc::clone(&self.context), self.event_sender.clone());
        self.streams.spawn_on(get_stream.run(), &self.runtime);
    }

    /// What waits at the gate and wants no answer: that can still be said.
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
                // The link holds a sender itself: this does not happen.
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

/// What is left to be said when a link is closed.
struct ClosingTasks {
    /// The exchange that may be opening a session. That is ended, too: the
    /// server would keep it, although nobody knows it.
    opening: Option<AbortOnDrop>,
    posts: JoinSet<()>,
    unsent: Vec<BoxFuture<'static, ()>>,
    context: Arc<HttpContext>,
}

impl ClosingTasks {
    /// Lets all of it arrive, and ends the session. Says whether there is none
    /// any more: nobody is left to hear why that did not work.
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

/// Whether a session is over, by the answer to its end: it was deleted, or was
/// gone already, or the server does not let clients end sessions, and ends them
/// itself.
fn is_session_ended(status: StatusCode) -> bool {
    let is_gone = matches!(
        status,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED
    );
    status.is_success() || is_gone
}

/// A task that is not left behind: an exchange whose answer never comes would
/// hold its socket for ever.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

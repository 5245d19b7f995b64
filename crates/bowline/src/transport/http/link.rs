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
    EraMemory,
    events::Events,
    exchange::Exchange,
    letter::{Kind, Letter},
    outbox::{self, Inbox, News, Outbox, Whose},
    standing::Standing,
    talk::Talk,
    two_endpoints,
};
use crate::{
    proto::revision::{HttpShape, Revision},
    transport::{BoxFuture, CauseKind, CloseTracker, Link, LinkEvent, Outgoing, Refusal},
};

/// How long the server has to confirm the end of a session.
const FAREWELL: Duration = Duration::from_secs(5);

/// A link whose frames are posted, each in an exchange of its own.
pub(super) struct HttpLink {
    talk: Arc<Talk>,
    eras: EraMemory,
    inbox: Inbox,
    outbox: Outbox,
    /// Whether answers come on one stream, and not in answer to each POST.
    two_endpoints: bool,
    /// The exchanges that an answer is wanted of. Dropped, they are given up.
    exchanges: Exchanges,
    /// The request among them whose answer may open a session.
    opening: Option<u64>,
    /// What is posted and wants no answer. Dropped, it is given up.
    posts: JoinSet<()>,
    /// What the server speaks on unasked. Dropped, it is given up.
    streams: JoinSet<()>,
    gate: Gate,
    /// Where tasks run, whoever's thread asks for them.
    runtime: Handle,
    closing: CloseTracker,
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
enum Gate {
    Open,
    Shut(VecDeque<Letter>),
}

impl HttpLink {
    /// A link of the usual kind. Must be made on a runtime.
    pub(super) fn usual(talk: Arc<Talk>, eras: EraMemory, closing: CloseTracker) -> Self {
        Self::new(talk, eras, closing, false)
    }

    /// A link whose frames all arrive on `events`. Must be made on a runtime.
    pub(super) fn with_stream(
        talk: Arc<Talk>,
        eras: EraMemory,
        closing: CloseTracker,
        events: Events,
    ) -> Self {
        let mut link = Self::new(talk, eras, closing, true);
        let reader = two_endpoints::read(events, link.outbox.clone());
        link.streams.spawn_on(reader, &link.runtime);
        link
    }

    fn new(talk: Arc<Talk>, eras: EraMemory, closing: CloseTracker, two_endpoints: bool) -> Self {
        let (outbox, inbox) = outbox::pair(talk.limits.backlog);
        Self {
            talk,
            eras,
            inbox,
            outbox,
            two_endpoints,
            exchanges: Exchanges::default(),
            opening: None,
            posts: JoinSet::new(),
            streams: JoinSet::new(),
            gate: Gate::Open,
            runtime: Handle::current(),
            closing,
        }
    }

    fn post(&mut self, letter: Letter) {
        if letter.kind == Kind::Initialized {
            self.gate = Gate::Shut(VecDeque::new());
        }
        if letter.kind == Kind::Initialize {
            self.opening = letter.id;
        }
        let whose = letter.whose();
        let exchange = Exchange::new(
            Arc::clone(&self.talk),
            self.outbox.until_over(whose),
            &letter,
            self.two_endpoints,
        );
        let task = exchange.run(letter);
        if let Whose::Request(id) = whose {
            let handle = self.runtime.spawn(task);
            self.exchanges.0.insert(id, handle);
        } else {
            self.posts.spawn_on(task, &self.runtime);
        }
    }

    fn over(&mut self, whose: Whose) {
        match whose {
            Whose::Request(id) => {
                self.exchanges.0.remove(&id);
                self.opening.take_if(|opening| *opening == id);
            }
            Whose::Initialized => self.open_standing(),
            Whose::Standing => self.open_gate(),
            Whose::Nobody => {}
        }
    }

    /// The handshake is done, as far as the server told us. Before anything
    /// else is sent, the server gets a stream to speak on: what it has to ask
    /// on the way to an answer may come there, and would be lost without.
    fn open_standing(&mut self) {
        let shape = self.talk.rules().map(|rules| rules.http);
        if self.two_endpoints || !matches!(shape, Some(HttpShape::Streamable { .. })) {
            self.open_gate();
            return;
        }
        let standing = Standing::new(Arc::clone(&self.talk), self.outbox.clone());
        self.streams.spawn_on(standing.keep_open(), &self.runtime);
    }

    /// What waits at the gate and wants no answer: that can still be said.
    fn unsent(&mut self) -> Vec<BoxFuture<'static, ()>> {
        let Gate::Shut(waiting) = mem::replace(&mut self.gate, Gate::Open) else {
            return Vec::new();
        };
        let unanswered = waiting.into_iter().filter(|letter| letter.id.is_none());
        unanswered
            .map(|letter| {
                let over = self.outbox.until_over(letter.whose());
                let talk = Arc::clone(&self.talk);
                let exchange = Exchange::new(talk, over, &letter, self.two_endpoints);
                Box::pin(exchange.run(letter)) as _
            })
            .collect()
    }

    fn open_gate(&mut self) {
        if let Gate::Shut(waiting) = mem::replace(&mut self.gate, Gate::Open) {
            for letter in waiting {
                self.post(letter);
            }
        }
    }
}

impl Link for HttpLink {
    fn send(&mut self, outgoing: Outgoing) -> Result<(), Refusal> {
        let letter = Letter::new(&self.talk, outgoing)
            .map_err(|why| Refusal::Failed(CauseKind::Io(why).into()))?;
        match &mut self.gate {
            Gate::Shut(waiting) => waiting.push_back(letter),
            Gate::Open => self.post(letter),
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
            match self.inbox.poll(cx) {
                Poll::Ready(Some(News::Event(event, _room))) => return Poll::Ready(event),
                Poll::Ready(Some(News::Last(event, _room, whose))) => {
                    self.over(whose);
                    return Poll::Ready(event);
                }
                Poll::Ready(Some(News::Over(whose))) => self.over(whose),
                // The link holds a sender itself: this does not happen.
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn abort(&mut self, id: u64) {
        if let Gate::Shut(waiting) = &mut self.gate {
            waiting.retain(|letter| letter.id != Some(id));
        }
        if let Some(exchange) = self.exchanges.0.remove(&id) {
            exchange.abort();
        }
    }

    fn settle(&mut self, revision: Revision) {
        let rules = revision.rules();
        self.talk.settle(rules);
        self.eras.remember(rules.era);
    }

    fn close(mut self: Box<Self>) {
        while self.posts.try_join_next().is_some() {}
        let opening = self.opening.and_then(|id| self.exchanges.0.remove(&id));
        let opening = opening.map(AbortOnDrop);
        if self.posts.is_empty() && opening.is_none() && self.talk.session().is_none() {
            return;
        }
        let task = self.closing.begin();
        let farewell = Farewell {
            opening,
            posts: mem::take(&mut self.posts),
            unsent: self.unsent(),
            talk: Arc::clone(&self.talk),
        };
        self.runtime.spawn(async move {
            tokio::select! {
                told = timeout(FAREWELL, farewell.say()) => if told == Ok(true) {
                    task.finished();
                },
                () = task.forced() => {}
            }
        });
    }
}

/// What is left to be said when a link is closed.
struct Farewell {
    /// The exchange that may be opening a session. That is ended, too: the
    /// server would keep it, although nobody knows it.
    opening: Option<AbortOnDrop>,
    posts: JoinSet<()>,
    unsent: Vec<BoxFuture<'static, ()>>,
    talk: Arc<Talk>,
}

impl Farewell {
    /// Lets all of it arrive, and ends the session. Says whether there is none
    /// any more: nobody is left to hear why that did not work.
    async fn say(mut self) -> bool {
        if let Some(opening) = &mut self.opening {
            let _ = (&mut opening.0).await;
        }
        while self.posts.join_next().await.is_some() {}
        for letter in self.unsent {
            letter.await;
        }
        if self.talk.session().is_none() {
            return true;
        }
        match self.talk.delete().await {
            Ok(answer) => is_over(answer.status()),
            Err(_) => false,
        }
    }
}

/// Whether a session is over, by the answer to its end: it was deleted, or was
/// gone already, or the server does not let clients end sessions, and ends them
/// itself.
fn is_over(status: StatusCode) -> bool {
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

//! The event stream that a server speaks on unasked, kept open.

use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::StatusCode;
use tokio::time::timeout;

use super::{
    answer::Answer,
    body,
    events::{End, Events},
    exchange::is_stream,
    outbox::{Outbox, Watch, Whose},
    talk::{Talk, wait_of},
};
use crate::{
    proto::http::resume::Resumption,
    transport::{Cause, CauseKind, HttpRefusal, LinkEvent, Refusal},
};

/// How long the opening of the stream may hold others up.
const OPENING: Duration = Duration::from_secs(1);

/// The stream of one session.
pub(super) struct Standing {
    talk: Arc<Talk>,
    outbox: Outbox,
    resumption: Resumption,
    /// Those who wait until the server has said whether there is a stream.
    opening: Option<Watch>,
    /// Whether there was a stream already. A server that never had one has
    /// none; one that had and refuses it now has lost more than the stream.
    was_open: bool,
    /// Attempts in a row that met no server.
    unmet: u32,
}

/// What an attempt came to.
enum Attempt {
    /// There was a stream, for this long, and it ended.
    Lived(Duration),
    /// Not now: perhaps later, and not before this has passed.
    Later(Duration),
    /// The place to resume from is refused; another beginning may do.
    Unresumable,
    /// There is no such stream, or no link any more.
    Never,
}

impl Standing {
    pub(super) fn new(talk: Arc<Talk>, outbox: Outbox) -> Self {
        Self {
            resumption: Resumption::new(talk.resumption),
            talk,
            opening: Some(outbox.until_over(Whose::Standing)),
            outbox,
            was_open: false,
            unmet: 0,
        }
    }

    /// Opens the stream, and again whenever it ends, for as long as the server
    /// has one.
    pub(super) async fn keep_open(mut self) {
        loop {
            let (lived, at_least) = match self.attempt().await {
                Attempt::Lived(lived) => (lived, Duration::ZERO),
                Attempt::Later(wait) => (Duration::ZERO, wait),
                Attempt::Unresumable => {
                    self.resumption.forget();
                    (Duration::ZERO, Duration::ZERO)
                }
                Attempt::Never => return,
            };
            let now = self.talk.now();
            let at = self.resumption.again(now, lived).max(now + at_least);
            self.talk.wait_until(at).await;
        }
    }

    async fn attempt(&mut self) -> Attempt {
        let from = self.resumption.last_event_id().map(str::to_owned);
        match self.get_stream(from.as_deref()).await {
            Ok(response) if is_stream(&response) => {
                self.was_open = true;
                self.unmet = 0;
                let opened = self.talk.now();
                self.read(response).await;
                Attempt::Lived(self.talk.now() - opened)
            }
            Ok(response) => {
                self.unmet = 0;
                self.refused(response, from.is_some()).await
            }
            // Nobody to let us in now; if there was one before, there may be again.
            Err(Refusal::Failed(cause)) if is_unauthorized(&cause) => match self.was_open {
                true => Attempt::Later(Duration::ZERO),
                false => Attempt::Never,
            },
            Err(Refusal::Failed(cause) | Refusal::Unanswered(cause)) => self.unmet(cause).await,
            Err(Refusal::Busy(_) | Refusal::Status(_)) => Attempt::Never,
        }
    }

    /// Asks for the stream. Who waits for it does not wait for ever.
    async fn get_stream(&mut self, from: Option<&str>) -> Result<Answer, Refusal> {
        let mut asking = pin!(self.talk.get_stream(from));
        if self.opening.is_some()
            && let Ok(answer) = timeout(OPENING, asking.as_mut()).await
        {
            self.opening = None;
            return answer;
        }
        self.opening = None;
        asking.await
    }

    async fn read(&mut self, response: Answer) {
        let (max_frame, comments) = (self.talk.max_frame, self.talk.limits.comments);
        let mut events = Events::new(response, max_frame, comments);
        loop {
            match events.next().await {
                Ok(event) => {
                    self.resumption.saw(&event);
                    if let Some(message) = event.message() {
                        self.outbox.put(LinkEvent::Frame(message.clone())).await;
                    }
                }
                Err(End::TooLarge) => {
                    // It would come again.
                    self.resumption.forget();
                    let size = events.limit().saturating_add(1);
                    let prefix = Bytes::new();
                    let oversize = LinkEvent::Oversize { size, prefix };
                    return self.outbox.put(oversize).await;
                }
                Err(End::Broken(_) | End::Unruly(_)) => return,
            }
        }
    }

    async fn refused(&self, response: Answer, resuming: bool) -> Attempt {
        let (status, wait) = (response.status(), wait_of(&response));
        body::drain(response).await;
        match status {
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {}
            // Who we are may be seen differently later.
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if self.was_open => {}
            _ if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => {}
            _ if self.was_open && resuming => return Attempt::Unresumable,
            _ if self.was_open => return self.gone(status.as_u16()).await,
            _ => return Attempt::Never,
        }
        Attempt::Later(wait.unwrap_or_default())
    }

    /// The server had the stream and does not know it any more.
    async fn gone(&self, status: u16) -> Attempt {
        let event = if status == 404 {
            let refusal = HttpRefusal {
                status,
                body: Bytes::new(),
                retry_after: None,
            };
            let refusal = Refusal::Status(refusal);
            LinkEvent::Refused { id: None, refusal }
        } else {
            let retry_after = None;
            LinkEvent::Down(
                CauseKind::Status {
                    status,
                    retry_after,
                }
                .into(),
            )
        };
        self.outbox.put(event).await;
        Attempt::Never
    }

    /// No server. One that stays away takes the link along, so that the
    /// connection knows and comes back with a new session.
    async fn unmet(&mut self, cause: Cause) -> Attempt {
        self.unmet += 1;
        if self.was_open && self.unmet > self.talk.resumption.attempts {
            self.outbox.put(LinkEvent::Down(cause)).await;
            return Attempt::Never;
        }
        Attempt::Later(Duration::ZERO)
    }
}

fn is_unauthorized(cause: &Cause) -> bool {
    matches!(cause.kind(), CauseKind::Unauthorized(_))
}

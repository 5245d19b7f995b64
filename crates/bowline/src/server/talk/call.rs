//! One call of a client's, while it is worked on.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use tokio::sync::Notify;

use super::voice::Voice;
use crate::{
    proto::server::RequestContext,
    server::{
        auth::grant::Granted,
        error::{Error, ErrorKind, Result},
        limits::Limits,
        replay::{claims::Claims, round::Clock, stage::Stage},
    },
};

/// What all parts of one call share.
pub(crate) struct Call {
    pub(crate) context: Box<RequestContext>,
    /// What was called, for people.
    pub(crate) name: Box<str>,
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) granted: Granted,
    pub(crate) voice: Voice,
    pub(crate) limits: Limits,
    /// Where the conversation is replayed; live ones have none.
    pub(crate) stage: Option<Stage>,
    /// From the second round on, what happens once is claimed.
    pub(crate) claims: Option<Claims>,
    /// What time it is, where a replay must know.
    pub(crate) clock: Clock,
    questions: AtomicU32,
    over: AtomicBool,
    ended: Notify,
}

impl Call {
    pub(crate) fn new(
        context: Box<RequestContext>,
        name: Box<str>,
        voice: Voice,
        limits: Limits,
        clock: Clock,
    ) -> Self {
        Self {
            context,
            name,
            principal: None,
            granted: Granted::default(),
            voice,
            limits,
            stage: None,
            claims: None,
            clock,
            questions: AtomicU32::new(0),
            over: AtomicBool::new(false),
            ended: Notify::new(),
        }
    }

    /// Counts a question, and refuses it if there were enough.
    pub(super) fn count_question(&self) -> Result<()> {
        let limit = self.limits.questions;
        if self.questions.fetch_add(1, Ordering::Relaxed) < limit {
            return Ok(());
        }
        let message = format!("no more than {limit} questions may be asked");
        Err(Error::of(ErrorKind::TooManyQuestions { limit }, message))
    }

    /// Waits until nobody waits for the call any more.
    pub(super) async fn until_over(&self) {
        loop {
            let ended = self.ended.notified();
            if self.over.load(Ordering::Acquire) {
                return;
            }
            ended.await;
        }
    }
}

/// Says that a call is over when it is dropped, however it ended.
pub(crate) struct EndOfCall(pub(crate) Arc<Call>);

impl Drop for EndOfCall {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
        self.0.ended.notify_waiters();
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        call.field("name", &self.name).finish_non_exhaustive()
    }
}

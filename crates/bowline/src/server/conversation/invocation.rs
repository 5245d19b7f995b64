//! One call of a client's, while it is worked on.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use super::{client_channel::ClientChannel, lifecycle::Lifecycle};
use crate::{
    proto::server::RequestContext,
    server::{
        auth::grant::Permissions,
        error::{Error, ErrorKind, Result},
        limits::CallLimits,
        replay::{journal::hex, replayer::Replayer, round::Clock, stored_journal::StoredJournal},
        seal::random_bytes,
    },
};

/// What all parts of one call share.
pub(crate) struct Invocation {
    pub(crate) context: Box<RequestContext>,
    /// What was called, for people.
    pub(crate) name: Box<str>,
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) permissions: Permissions,
    pub(crate) channel: ClientChannel,
    pub(crate) limits: CallLimits,
    /// Where the conversation is replayed; live ones have none.
    pub(crate) replayer: Option<Replayer>,
    /// From the second round on, what happens is written down.
    pub(crate) journal: Option<StoredJournal>,
    /// What time it is, where a replay must know: the same for all who play
    /// the same round.
    pub(crate) clock: Clock,
    pub(crate) lifecycle: Arc<Lifecycle>,
    /// The name of the conversation, once somebody wants to know.
    id: OnceLock<Box<str>>,
    /// Whether the last phase has begun, or the cleanup in its place.
    final_phase_begun: AtomicBool,
    question_count: AtomicU32,
}

impl Invocation {
    pub(crate) fn new(
        context: Box<RequestContext>,
        name: Box<str>,
        channel: ClientChannel,
        limits: CallLimits,
        clock: Clock,
    ) -> Self {
        Self {
            context,
            name,
            principal: None,
            permissions: Permissions::default(),
            channel,
            limits,
            replayer: None,
            journal: None,
            clock,
            lifecycle: Arc::default(),
            id: OnceLock::new(),
            final_phase_begun: AtomicBool::new(false),
            question_count: AtomicU32::new(0),
        }
    }

    /// Whether nobody can go on with the conversation: no state of it was handed
    /// out, and it is dropped since its caller left or it panicked.
    pub(crate) fn is_abandoned(&self) -> bool {
        let is_suspended = self.replayer.as_ref().is_some_and(Replayer::is_closed);
        let is_dropped = self.lifecycle.is_detached() || std::thread::panicking();
        is_dropped && self.journal.is_none() && !is_suspended
    }

    /// The last phase, or the cleanup in its place, is about to begin. Says
    /// whether the other one has not.
    pub(crate) fn begin_final_phase(&self) -> bool {
        !self.final_phase_begun.swap(true, Ordering::AcqRel)
    }

    /// A name that no other conversation has, and that this one keeps.
    pub(crate) fn id(&self) -> &str {
        self.id.get_or_init(|| {
            let name: [u8; 16] = random_bytes();
            hex(&name).into()
        })
    }

    /// The conversation has a name already.
    pub(crate) fn set_id(&mut self, id: Box<str>) {
        self.id = OnceLock::from(id);
    }

    /// Counts a question, and refuses it if there were enough.
    pub(super) fn count_question(&self) -> Result<()> {
        let limit = self.limits.max_questions;
        if self.question_count.fetch_add(1, Ordering::Relaxed) < limit {
            return Ok(());
        }
        let message = format!("no more than {limit} questions may be asked");
        Err(Error::with_kind(
            ErrorKind::TooManyQuestions { limit },
            message,
        ))
    }
}

/// Says that a call is over when it is dropped, however it ended.
pub(crate) struct InvocationGuard(pub(crate) Arc<Invocation>);

impl Drop for InvocationGuard {
    fn drop(&mut self) {
        self.0.lifecycle.finish();
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Invocation");
        call.field("name", &self.name).finish_non_exhaustive()
    }
}

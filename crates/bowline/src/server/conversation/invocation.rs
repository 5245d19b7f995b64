//! One call of a client, while it runs.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use bytes::Bytes;

use super::{client_channel::ClientChannel, lifecycle::Lifecycle};
use crate::server::{
    dispatch::request::Request,
    error::{Error, ErrorKind, Result},
    limits::CallLimits,
    replay::{
        journal::hex,
        replayer::Replayer,
        round::Clock,
        state::{account, binding},
        stored_journal::StoredJournal,
    },
    seal::random_bytes,
};

/// The state that all parts of one call share.
pub(crate) struct Invocation {
    pub(crate) request: Request,
    /// The name of the tool, prompt or resource.
    pub(crate) name: Box<str>,
    /// The arguments, verbatim.
    pub(crate) arguments: Option<Bytes>,
    pub(crate) channel: ClientChannel,
    pub(crate) limits: CallLimits,
    /// The replayer; `None` if the conversation is live.
    pub(crate) replayer: Option<Replayer>,
    /// The journal, from the second round on.
    pub(crate) journal: Option<StoredJournal>,
    /// The clock that a replay uses: the same for all nodes that run the same
    /// round.
    pub(crate) clock: Clock,
    pub(crate) lifecycle: Arc<Lifecycle>,
    /// The id of the conversation, once requested.
    id: OnceLock<Box<str>>,
    /// Whether the last phase, or the cleanup instead of it, has begun.
    final_phase_begun: AtomicBool,
    question_count: AtomicU32,
}

impl Invocation {
    pub(crate) fn new(
        request: Request,
        name: Box<str>,
        channel: ClientChannel,
        limits: CallLimits,
        clock: Clock,
    ) -> Self {
        Self {
            request,
            name,
            arguments: None,
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

    /// Returns a digest of the request and its principal, to which the state of
    /// the conversation is bound.
    pub(crate) fn binding(&self) -> Box<str> {
        let request = &self.request;
        let principal = request.principal.as_deref();
        binding(
            principal,
            &request.method,
            &self.name,
            self.arguments.as_deref(),
        )
    }

    /// Returns a digest of the principal.
    pub(crate) fn account(&self) -> Box<str> {
        account(self.request.principal.as_deref())
    }

    /// Returns whether no one can resume the conversation: no state of it was
    /// handed out, and it is dropped because its caller left or it panicked.
    pub(crate) fn is_abandoned(&self) -> bool {
        let is_suspended = self.replayer.as_ref().is_some_and(Replayer::is_closed);
        let is_dropped = self.lifecycle.is_detached() || std::thread::panicking();
        is_dropped && self.journal.is_none() && !is_suspended
    }

    /// Marks the start of the last phase, or of the cleanup instead of it.
    /// Returns `false` if the other one has already begun.
    pub(crate) fn begin_final_phase(&self) -> bool {
        !self.final_phase_begun.swap(true, Ordering::AcqRel)
    }

    /// Returns the unique id of the conversation.
    pub(crate) fn id(&self) -> &str {
        self.id.get_or_init(|| {
            let name: [u8; 16] = random_bytes();
            hex(&name).into()
        })
    }

    /// Sets the id that the conversation already has.
    pub(crate) fn set_id(&mut self, id: Box<str>) {
        self.id = OnceLock::from(id);
    }

    /// Counts a question, or returns an error if the limit is reached.
    pub(super) fn count_question(&self) -> Result<()> {
        let limit = self.limits.max_questions;
        if self.question_count.fetch_add(1, Ordering::Relaxed) < limit {
            return Ok(());
        }
        let message = format!("the conversation exceeds the limit of {limit} questions");
        Err(Error::with_kind(
            ErrorKind::TooManyQuestions { limit },
            message,
        ))
    }
}

/// Marks a call as over when dropped, however it ended.
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

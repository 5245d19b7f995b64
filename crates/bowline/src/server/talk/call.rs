//! One call of a client's, while it is worked on.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use super::{presence::Presence, voice::Voice};
use crate::{
    proto::server::RequestContext,
    server::{
        auth::grant::Granted,
        error::{Error, ErrorKind, Result},
        limits::Limits,
        replay::{course::Course, journal::hex, round::Clock, stage::Stage},
        seal::random_bytes,
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
    /// From the second round on, what happens is written down.
    pub(crate) course: Option<Course>,
    /// What time it is, where a replay must know: the same for all who play
    /// the same round.
    pub(crate) clock: Clock,
    pub(crate) presence: Arc<Presence>,
    /// The name of the conversation, once somebody wants to know.
    id: OnceLock<Box<str>>,
    /// Whether the last phase has begun, or the cleanup in its place.
    is_past_phases: AtomicBool,
    questions: AtomicU32,
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
            course: None,
            clock,
            presence: Arc::default(),
            id: OnceLock::new(),
            is_past_phases: AtomicBool::new(false),
            questions: AtomicU32::new(0),
        }
    }

    /// Whether nobody can go on with the conversation: no state of it was handed
    /// out, and it is dropped since its caller left or it panicked.
    pub(crate) fn is_deserted(&self) -> bool {
        let is_put_off = self.stage.as_ref().is_some_and(Stage::is_closed);
        let is_dropped = self.presence.has_left() || std::thread::panicking();
        is_dropped && self.course.is_none() && !is_put_off
    }

    /// The last phase, or the cleanup in its place, is about to begin. Says
    /// whether the other one has not.
    pub(crate) fn begin_last_phase(&self) -> bool {
        !self.is_past_phases.swap(true, Ordering::AcqRel)
    }

    /// A name that no other conversation has, and that this one keeps.
    pub(crate) fn id(&self) -> &str {
        self.id.get_or_init(|| {
            let name: [u8; 16] = random_bytes();
            hex(&name).into()
        })
    }

    /// The conversation has a name already.
    pub(crate) fn is_called(&mut self, id: Box<str>) {
        self.id = OnceLock::from(id);
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
}

/// Says that a call is over when it is dropped, however it ended.
pub(crate) struct EndOfCall(pub(crate) Arc<Call>);

impl Drop for EndOfCall {
    fn drop(&mut self) {
        self.0.presence.end();
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        call.field("name", &self.name).finish_non_exhaustive()
    }
}

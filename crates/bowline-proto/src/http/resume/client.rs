//! The client side of resumption: whether, when and where to resume.

use std::{fmt, time::Duration};

use crate::{
    Instant,
    http::{classify_status, sse::Event},
};

/// A client's state of an event stream that may break.
///
/// ```
/// use bowline_proto::{
///     Instant,
///     http::{resume::{ResumeAction, Resumption, ResumptionPolicy}, sse::Decoder},
/// };
/// use std::time::Duration;
///
/// let mut stream = Resumption::new(ResumptionPolicy::default());
/// let mut chunk: &[u8] = b"id: 7\nretry: 500\ndata:\n\n";
/// let priming = Decoder::default().push(&mut chunk).unwrap().unwrap();
/// stream.record_event(&priming);
///
/// let now = Instant::ORIGIN;
/// let ResumeAction::Resume { at, last_event_id } = stream.stream_broken(now) else { panic!() };
/// assert_eq!(at, now + Duration::from_millis(500));
/// assert_eq!(last_event_id, "7");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    policy: ResumptionPolicy,
    last_event_id: Option<Box<str>>,
    retry: Option<Duration>,
    failed_attempts: u32,
}

impl Resumption {
    /// Creates the state of a stream without any events yet.
    #[must_use]
    pub fn new(policy: ResumptionPolicy) -> Self {
        Self {
            policy,
            last_event_id: None,
            retry: None,
            failed_attempts: 0,
        }
    }

    /// Records an event of this stream, with or without a message.
    ///
    /// Any event shows that the server still has the stream, so the count of
    /// failed attempts is reset. A server may let a client resume any number of
    /// times; the request's own deadline ends that.
    pub fn record_event(&mut self, event: &Event) {
        if let Some(id) = &event.id {
            // An empty id resets it. An id that no header can carry unchanged
            // cannot be resumed from, and an older one would repeat messages.
            self.last_event_id = is_sendable(id).then(|| id.clone());
        }
        if let Some(retry) = event.retry {
            self.retry = Some(retry);
        }
        self.failed_attempts = 0;
    }

    /// Handles a stream that ended, or could not be opened, before the response
    /// arrived.
    pub fn stream_broken(&mut self, now: Instant) -> ResumeAction {
        self.schedule(now, Duration::ZERO)
    }

    /// Handles an error status in response to the GET.
    ///
    /// `retry_after` is the server's
    /// [`Retry-After`](crate::http::parse_retry_after()), if any. A refusal is
    /// final unless the status [is temporary](crate::http::StatusClass::is_temporary).
    pub fn request_refused(
        &mut self,
        now: Instant,
        status: u16,
        retry_after: Option<Duration>,
    ) -> ResumeAction {
        if classify_status(status).is_temporary() {
            self.schedule(now, retry_after.unwrap_or_default())
        } else {
            ResumeAction::GiveUp(ResumeError::Refused(status))
        }
    }

    /// Returns when to try again for a stream that may also start over: one for
    /// messages that the server sends unprompted. Such a stream is never lost.
    ///
    /// `uptime` is how long the last one was open. One that lasted longer than
    /// the wait before it was not a failure, even without events. `retry_after`
    /// is the least that the server wants clients to wait, if it says so.
    pub fn next_attempt(
        &mut self,
        now: Instant,
        uptime: Duration,
        retry_after: Option<Duration>,
    ) -> Instant {
        if self.failed_attempts > 0
            && uptime > self.policy.delay(self.retry, self.failed_attempts - 1)
        {
            self.failed_attempts = 0;
        }
        let delay = self.policy.delay(self.retry, self.failed_attempts);
        self.failed_attempts = self.failed_attempts.saturating_add(1);
        now + delay.max(retry_after.unwrap_or_default())
    }

    /// Forgets the last event id: the events after it are not available.
    pub fn clear_last_event_id(&mut self) {
        self.last_event_id = None;
    }

    /// Returns the event id to resume after, if the server sent one.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    fn schedule(&mut self, now: Instant, min_wait: Duration) -> ResumeAction {
        let Some(last_event_id) = self.last_event_id.as_deref() else {
            return ResumeAction::GiveUp(ResumeError::NoEventId);
        };
        if self.failed_attempts >= self.policy.max_attempts {
            return ResumeAction::GiveUp(ResumeError::TooManyAttempts);
        }
        let delay = self
            .policy
            .delay(self.retry, self.failed_attempts)
            .max(min_wait);
        self.failed_attempts += 1;
        ResumeAction::Resume {
            at: now + delay,
            last_event_id: last_event_id.to_owned(),
        }
    }
}

/// The limits and delays of a client's attempts to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResumptionPolicy {
    /// The wait before the first attempt, if the server sends none: 1 s.
    pub initial_delay: Duration,
    /// The shortest wait, whatever the server asks for: 100 ms. A server that
    /// closes every stream immediately must not make its clients spin.
    pub min_delay: Duration,
    /// The cap for waits, which double with each failed attempt: 30 s. A longer
    /// wait that the server asks for is respected.
    pub max_delay: Duration,
    /// The maximum number of consecutive attempts without an event: 5.
    pub max_attempts: u32,
}

impl ResumptionPolicy {
    /// The first wait is the one the server asked for; it must not be shorter.
    fn delay(&self, retry: Option<Duration>, attempt: u32) -> Duration {
        let first = retry.unwrap_or(self.initial_delay).max(self.min_delay);
        let factor = 1u32.checked_shl(attempt).unwrap_or(u32::MAX);
        first.saturating_mul(factor).min(self.max_delay).max(first)
    }
}

impl Default for ResumptionPolicy {
    fn default() -> Self {
        Self {
            initial_delay: Duration::from_secs(1),
            min_delay: Duration::from_millis(100),
            max_delay: Duration::from_secs(30),
            max_attempts: 5,
        }
    }
}

/// What to do after a stream has ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeAction {
    /// Send a GET with this `Last-Event-ID`, not before this time.
    Resume {
        /// When to send it.
        at: Instant,
        /// The header's value.
        last_event_id: String,
    },
    /// The request that the stream was to answer is lost.
    GiveUp(ResumeError),
}

/// Why a stream cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResumeError {
    /// The server sent no event id, or reset it: it keeps nothing.
    NoEventId,
    /// Repeated attempts brought no event.
    TooManyAttempts,
    /// The server refused to resume the stream with this status.
    Refused(u16),
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEventId => f.write_str("the stream broke and has no event id to resume from"),
            Self::TooManyAttempts => f.write_str(
                "the stream broke and could not be resumed: too many attempts without an event",
            ),
            Self::Refused(status) => {
                write!(
                    f,
                    "the server refused to resume the stream: HTTP status {status}"
                )
            }
        }
    }
}

impl std::error::Error for ResumeError {}

/// Returns whether a header carries the id unchanged.
fn is_sendable(id: &str) -> bool {
    let is_blank = |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    let is_control = |byte: u8| (byte < b' ' && byte != b'\t') || byte == 0x7f;
    let id = id.as_bytes();
    !is_blank(id.first()) && !is_blank(id.last()) && !id.iter().copied().any(is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: Option<&str>, retry: Option<u64>) -> Event {
        Event {
            id: id.map(Into::into),
            retry: retry.map(Duration::from_millis),
            ..Event::default()
        }
    }

    fn wait(end: &ResumeAction, now: Instant) -> Duration {
        match end {
            ResumeAction::Resume { at, .. } => *at - now,
            ResumeAction::GiveUp(lost) => panic!("{lost}"),
        }
    }

    #[test]
    fn without_an_event_id_nothing_is_resumed() {
        let lost = ResumeAction::GiveUp(ResumeError::NoEventId);
        let mut stream = Resumption::new(ResumptionPolicy::default());
        assert_eq!(stream.stream_broken(Instant::ORIGIN), lost);
        stream.record_event(&event(None, Some(10)));
        assert_eq!(stream.stream_broken(Instant::ORIGIN), lost);
        for taken_back in ["", " 1", "1\u{1}", "\u{7f}"] {
            stream.record_event(&event(Some("1"), None));
            stream.record_event(&event(Some(taken_back), None));
            assert_eq!(
                stream.stream_broken(Instant::ORIGIN),
                lost,
                "{taken_back:?}"
            );
        }
    }

    #[test]
    fn the_servers_wait_is_kept_and_grows_when_nothing_comes() {
        let mut stream = Resumption::new(ResumptionPolicy::default());
        let now = Instant::ORIGIN + Duration::from_secs(9);
        stream.record_event(&event(Some("1"), Some(500)));
        let waits: Vec<_> = (0..5)
            .map(|_| wait(&stream.stream_broken(now), now).as_millis())
            .collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000]);
        assert_eq!(
            stream.stream_broken(now),
            ResumeAction::GiveUp(ResumeError::TooManyAttempts)
        );
        stream.record_event(&event(Some("2"), None));
        assert_eq!(
            wait(&stream.stream_broken(now), now).as_millis(),
            500,
            "an event is progress"
        );
    }

    #[test]
    fn a_wait_beyond_our_own_limit_is_still_kept() {
        let mut stream = Resumption::new(ResumptionPolicy::default());
        let now = Instant::ORIGIN;
        stream.record_event(&event(Some("1"), Some(60_000)));
        assert_eq!(wait(&stream.stream_broken(now), now).as_millis(), 60_000);
        assert_eq!(wait(&stream.stream_broken(now), now).as_millis(), 60_000);
    }

    #[test]
    fn a_server_cannot_make_its_clients_spin() {
        let mut stream = Resumption::new(ResumptionPolicy::default());
        for _ in 0..20 {
            stream.record_event(&event(Some("1"), Some(0)));
            let wait = wait(&stream.stream_broken(Instant::ORIGIN), Instant::ORIGIN);
            assert_eq!(wait, Duration::from_millis(100));
        }
    }

    #[test]
    fn later_events_without_an_id_keep_the_earlier_id() {
        let mut stream = Resumption::new(ResumptionPolicy::default());
        stream.record_event(&event(Some("1"), None));
        stream.record_event(&event(None, None));
        assert_eq!(stream.last_event_id(), Some("1"));
    }

    #[test]
    fn refusals_are_final_unless_they_pass() {
        let now = Instant::ORIGIN;
        let mut stream = Resumption::new(ResumptionPolicy::default());
        stream.record_event(&event(Some("1"), None));
        for status in [400, 401, 404, 405, 406, 501, 505] {
            let lost = ResumeAction::GiveUp(ResumeError::Refused(status));
            assert_eq!(stream.request_refused(now, status, None), lost);
        }
        let end = stream.request_refused(now, 503, Some(Duration::from_secs(7)));
        assert_eq!(wait(&end, now), Duration::from_secs(7));
        assert_eq!(
            wait(&stream.request_refused(now, 500, None), now),
            Duration::from_secs(2)
        );
    }

    #[test]
    fn a_stream_that_may_begin_anew_is_never_lost() {
        let mut stream = Resumption::new(ResumptionPolicy::default());
        let now = Instant::ORIGIN;
        let short = Duration::ZERO;
        let waits: Vec<_> = (0..7)
            .map(|_| (stream.next_attempt(now, short, None) - now).as_secs())
            .collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        let long = Duration::from_secs(31);
        assert_eq!((stream.next_attempt(now, long, None) - now).as_secs(), 1);
        assert_eq!((stream.next_attempt(now, short, None) - now).as_secs(), 2);
        stream.record_event(&event(None, Some(500)));
        assert_eq!(
            (stream.next_attempt(now, short, None) - now).as_millis(),
            500
        );
    }

    #[test]
    fn a_place_that_is_of_no_use_can_be_forgotten() {
        let mut stream = Resumption::new(ResumptionPolicy::default());
        stream.record_event(&event(Some("1"), None));
        stream.clear_last_event_id();
        assert_eq!(stream.last_event_id(), None);
    }

    #[test]
    fn endless_patience_does_not_overflow() {
        let mut stream = Resumption::new(ResumptionPolicy {
            max_attempts: u32::MAX,
            ..ResumptionPolicy::default()
        });
        stream.record_event(&event(Some("1"), None));
        for _ in 0..100 {
            assert!(
                wait(&stream.stream_broken(Instant::ORIGIN), Instant::ORIGIN)
                    <= Duration::from_secs(30)
            );
        }
    }
}

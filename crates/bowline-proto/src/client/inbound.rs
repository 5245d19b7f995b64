//! What arrives while a session is open.

use bytes::Bytes;
use memchr::memmem;

use super::{
    CallId, CauseKind, Event, Failure, OnInput, Outcome, Progress, Refusal, Telemetry, Violation,
    Wire,
    calls::Purpose,
    core::Core,
    offers::answers,
    opening::error_in,
    ready::{Ready, Session, status_outcome},
    serving::NotOpened,
    state::{Redial, State},
};
use crate::{
    Instant,
    jsonrpc::{
        Envelope, ErrorObject, Messages, RequestId, ScanError, code, decode, error_response,
        part_of, response, response_raw, salvage, scan, split,
    },
    model::{
        Adapt, CancelledParams, InitializedParams, ListRootsResult, ProgressParams,
        SubscriptionsAcknowledgedParams, meta, method,
    },
    revision::Era,
};

/// What to do after a message.
enum Next {
    GoOn,
    /// Strict settings, and a violation that they do not tolerate.
    Leave(&'static str),
}

impl Next {
    /// A violation that only strict settings do not tolerate.
    fn tolerate(core: &Core, what: &'static str) -> Self {
        if core.config.strict {
            Self::Leave(what)
        } else {
            Self::GoOn
        }
    }
}

impl Ready {
    pub(super) fn frame(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        frame: &Bytes,
    ) -> State {
        if frame.len() > core.config.max_frame {
            return self.oversize(core, now, frame.len(), frame);
        }
        let next = match split(frame) {
            Ok(Messages::One(message)) => self.message(core, now, frame, message),
            Ok(Messages::Batch(messages)) if self.rules.batching => {
                let mut next = Next::GoOn;
                for message in messages {
                    if let Next::GoOn = next {
                        next = self.message(core, now, frame, message);
                    }
                }
                next
            }
            Ok(Messages::Batch(_)) => {
                core.violation(Violation::Batch, frame.len());
                Next::GoOn
            }
            Err(error) => self.garbage(core, now, &error, frame.len()),
        };
        match next {
            Next::GoOn => State::Ready(self),
            Next::Leave(why) => {
                let kind = CauseKind::Violation(why.to_owned());
                self.abandon(core, now, kind, Redial::AfterBackoff)
            }
        }
    }

    /// A frame over the limit. It ends the call that it was the answer to; what
    /// comes after it can be told apart from it.
    pub(super) fn oversize(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        size: usize,
        prefix: &[u8],
    ) -> State {
        core.violation(Violation::Oversize, size);
        let limit = core.config.max_frame;
        let wire = salvage(prefix).answered();
        if let Some(id) = wire.and_then(|wire| core.calls.awaiting(wire)) {
            core.fail(now, id, Failure::AnswerTooLarge { size, limit });
        }
        // Of an HTTP exchange nothing is left that could be broken off.
        if !core.config.strict || core.config.wire == Wire::Http {
            return State::Ready(self);
        }
        self.abandon(
            core,
            now,
            CauseKind::Oversize { size, limit },
            Redial::AfterBackoff,
        )
    }

    fn message(&mut self, core: &mut Core, now: Instant, frame: &Bytes, message: &[u8]) -> Next {
        match scan(message) {
            Ok(Envelope::Response {
                id,
                result,
                result_type,
            }) => {
                let result = part_of(frame, result);
                self.answer(core, now, &id, &result, result_type.as_deref());
            }
            Ok(Envelope::Error { id, error }) => self.error(core, now, id.as_ref(), error),
            Ok(Envelope::Notification { method, params }) => {
                let params = params.map(|params| part_of(frame, params));
                self.notification(core, now, &method, params);
            }
            Ok(Envelope::Request { id, method, params }) => {
                let params = params.map(|params| part_of(frame, params));
                return self.request(core, now, &id, &method, params);
            }
            Err(error) => return self.garbage(core, now, &error, message.len()),
        }
        Next::GoOn
    }

    /// Something that is not a message. If it was meant as an answer and its
    /// id can be read, the call that waits for it need not wait longer.
    fn garbage(&mut self, core: &mut Core, now: Instant, error: &ScanError, size: usize) -> Next {
        core.violation(Violation::Garbage, size);
        let wire = error.answered();
        if let Some(id) = wire.and_then(|wire| core.calls.awaiting(wire)) {
            core.fail(
                now,
                id,
                Failure::InvalidAnswer {
                    why: error.to_string(),
                },
            );
        }
        Next::GoOn
    }
}

/// Answers.
impl Ready {
    fn answer(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        result: &Bytes,
        result_type: Option<&str>,
    ) {
        let wire = id.as_u64();
        let Some(call) = wire.and_then(|wire| core.calls.awaiting(wire)) else {
            if !self.stream_ended(core, now, wire, None) {
                core.unexpected_answer(now, wire);
            }
            return;
        };
        match self.judge(core, call, result_type) {
            Verdict::Complete => self.complete(core, now, call, result),
            Verdict::Questions => self.questions(core, now, call, result),
            Verdict::Invalid(why) => {
                core.violation(Violation::InvalidResponse, result.len());
                core.fail(now, call, Failure::InvalidAnswer { why });
            }
        }
    }

    /// Whether a result is the end of the call.
    fn judge(&self, core: &Core, id: CallId, result_type: Option<&str>) -> Verdict {
        let (Session::Stateless(_), Some(kind)) = (&self.era, result_type) else {
            // Handshake revisions have no such field; servers that leave it
            // out mean the usual.
            return Verdict::Complete;
        };
        let Some(call) = core.calls.get(id) else {
            return Verdict::Complete;
        };
        match kind {
            "complete" => Verdict::Complete,
            "input_required" if !call.info.is_some_and(|info| info.input_rounds) => {
                Verdict::Invalid(format!("{} cannot require input", call.method))
            }
            "input_required" => match call.options.on_input {
                OnInput::Ask => Verdict::Questions,
                OnInput::HandBack => Verdict::Complete,
            },
            other
                if core
                    .config
                    .extension_results
                    .iter()
                    .any(|known| &**known == other) =>
            {
                Verdict::Complete
            }
            other => Verdict::Invalid(format!("unknown resultType {other:?}")),
        }
    }

    fn complete(&mut self, core: &mut Core, now: Instant, id: CallId, result: &Bytes) {
        let purpose = core.calls.get(id).map(|call| &call.purpose);
        let told = match purpose {
            Some(Purpose::ListTools { .. }) => self.offered(core, result),
            _ => result.clone(),
        };
        let Some(purpose) = core.finish(now, id, Outcome::Result(told)) else {
            return;
        };
        match purpose {
            Purpose::ListTools { continues } => self.modes.listed(result, continues),
            Purpose::Subscribe(uri) => {
                core.intents.uris.insert(uri);
            }
            Purpose::RestoreSubscription(uri) => {
                core.event(Event::Resubscribed { uris: vec![uri] });
            }
            Purpose::Unsubscribe(uri) => {
                core.intents.uris.remove(&uri);
            }
            Purpose::SetLevel(level) => core.intents.log_level = Some(level),
            Purpose::Relist(relisting) => self.relisted(core, now, *relisting, result),
            Purpose::User | Purpose::RestoreLevel => {}
        }
    }

    fn error(&mut self, core: &mut Core, now: Instant, id: Option<&RequestId>, error: &[u8]) {
        let wire = id.and_then(RequestId::as_u64);
        let waiting = wire.and_then(|wire| core.calls.awaiting(wire));
        let outcome = match decode::<ErrorObject>(error) {
            Ok(error) => Outcome::Refused(error),
            Err(fault) => Outcome::Failed(Failure::InvalidAnswer {
                why: fault.to_string(),
            }),
        };
        let Some(call) = waiting else {
            let error = if let Outcome::Refused(error) = &outcome {
                Some(error)
            } else {
                None
            };
            if !self.stream_ended(core, now, wire, error) {
                core.unexpected_answer(now, wire);
            }
            return;
        };
        self.end(core, now, call, outcome);
    }

    /// Ends a call as the server answered it, unless it can be made better.
    pub(super) fn end(&mut self, core: &mut Core, now: Instant, id: CallId, outcome: Outcome) {
        if let Outcome::Refused(error) = &outcome
            && self.relist(core, now, id, error)
        {
            return;
        }
        core.finish(now, id, outcome);
    }

    /// The end of a stream of changes, if `wire` is one.
    fn stream_ended(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire: Option<u64>,
        error: Option<&ErrorObject>,
    ) -> bool {
        let (Session::Stateless(session), Some(wire)) = (&mut self.era, wire) else {
            return false;
        };
        let known = session.listening.knows(wire);
        session.listening.ended(core, now, wire, error);
        known
    }
}

enum Verdict {
    Complete,
    Questions,
    Invalid(String),
}

/// Notifications.
impl Ready {
    fn notification(&mut self, core: &mut Core, now: Instant, name: &str, params: Option<Bytes>) {
        core.observe(|| Telemetry::NotificationReceived {
            method: name.into(),
        });
        match name {
            method::PROGRESS => self.progress(core, now, params.as_deref()),
            method::CANCELLED => self.cancelled(core, now, params.as_deref()),
            method::SUBSCRIPTIONS_ACKNOWLEDGED => self.acknowledged(core, now, params.as_deref()),
            _ if self.is_stale_change(params.as_deref()) => {}
            _ => core.event(Event::Notification {
                method: name.into(),
                params,
            }),
        }
    }

    fn progress(&mut self, core: &mut Core, now: Instant, params: Option<&[u8]>) {
        let Ok(progress) = decode::<ProgressParams>(params.unwrap_or(b"{}")) else {
            core.violation(Violation::BadNotification, params.map_or(0, <[u8]>::len));
            return;
        };
        let wire = progress.progress_token.as_u64();
        let Some(id) = wire.and_then(|wire| core.calls.awaiting(wire)) else {
            return;
        };
        let Some(call) = core.calls.get(id) else {
            return;
        };
        match (call.options.progress, call.cap) {
            (Progress::Unwanted, _) => return,
            (Progress::ExtendsDeadline { .. }, Some(cap)) if !call.held => {
                let deadline = (now + call.timeout).min(cap);
                core.set_deadline(id, deadline);
            }
            (Progress::Report | Progress::ExtendsDeadline { .. }, _) => {}
        }
        let progress = Box::new(progress);
        core.event(Event::Progress { call: id, progress });
    }

    /// The server gave up a request of its own, or ends a stream of changes.
    /// Ids are per direction: this never means a call of ours.
    fn cancelled(&mut self, core: &mut Core, now: Instant, params: Option<&[u8]>) {
        let Ok(params) = decode::<CancelledParams>(params.unwrap_or(b"{}")) else {
            core.violation(Violation::BadNotification, params.map_or(0, <[u8]>::len));
            return;
        };
        let Some(id) = params.request_id else {
            return;
        };
        match &mut self.era {
            Session::Handshake(session) => {
                session.serving.withdraw(core, &id);
                if session.serving.len() == 0 {
                    core.release_calls(now);
                }
            }
            Session::Stateless(_) => {
                self.stream_ended(core, now, id.as_u64(), None);
            }
        }
    }

    fn acknowledged(&mut self, core: &mut Core, now: Instant, params: Option<&[u8]>) {
        let Session::Stateless(session) = &mut self.era else {
            return;
        };
        let Ok(params) = decode::<SubscriptionsAcknowledgedParams>(params.unwrap_or(b"{}")) else {
            core.violation(Violation::BadNotification, params.map_or(0, <[u8]>::len));
            return;
        };
        let id = params
            .meta
            .as_ref()
            .and_then(|meta| meta.subscription_id().ok().flatten());
        let Some(wire) = id.and_then(|id| id.as_u64()) else {
            core.violation(Violation::BadNotification, 0);
            return;
        };
        let replaced = session
            .listening
            .acknowledged(core, now, wire, &params.notifications);
        if let Some(old) = replaced {
            self.withdraw(core, now, old, "subscription changed");
        }
    }

    /// Whether a change comes from a stream that we closed, or never had.
    fn is_stale_change(&self, params: Option<&[u8]>) -> bool {
        let (Session::Stateless(session), Some(params)) = (&self.era, params) else {
            return false;
        };
        if memmem::find(params, meta::key::SUBSCRIPTION_ID.as_bytes()).is_none() {
            return false;
        }
        // Any notification's parameters will do: only `_meta` is read.
        let Ok(params) = decode::<InitializedParams>(params) else {
            return false;
        };
        let id = params
            .meta
            .and_then(|meta| meta.subscription_id().ok().flatten());
        let is_ours = |wire| session.listening.knows(wire);
        id.is_some_and(|id| !id.as_u64().is_some_and(is_ours))
    }

    pub(super) fn relisten(&mut self, core: &mut Core, now: Instant) {
        let Session::Stateless(session) = &mut self.era else {
            return;
        };
        match session.listening.overdue() {
            Some(wire) => {
                session.listening.schedule(core, now);
                self.withdraw(core, now, wire, "timeout");
            }
            None => self.watch_changed(core, now),
        }
    }

    pub(super) fn listening_refused(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire: u64,
        refusal: &Refusal,
    ) {
        if let Refusal::Status(status) = refusal
            && let Some(error) = error_in(&status.body)
        {
            self.stream_ended(core, now, Some(wire), Some(&error));
            return;
        }
        let outcome = match refusal {
            Refusal::Busy(_) => None,
            Refusal::Failed(cause) => Some(Outcome::Failed(Failure::Undelivered(cause.clone()))),
            Refusal::Unanswered(cause) => {
                Some(Outcome::Failed(Failure::ConnectionLost(cause.clone())))
            }
            Refusal::Status(status) => Some(status_outcome(status)),
        };
        if let Session::Stateless(session) = &mut self.era {
            let listening = &mut session.listening;
            listening.undelivered(core, now, wire, outcome.as_ref());
        }
    }
}

/// Requests of the server's.
impl Ready {
    fn request(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        name: &str,
        params: Option<Bytes>,
    ) -> Next {
        let size = params.as_ref().map_or(0, Bytes::len);
        if self.rules.era == Era::Stateless {
            // There is nothing to answer with: clients send no responses here.
            core.violation(Violation::ServerRequest, size);
            return Next::tolerate(core, "a request from the server");
        }
        match name {
            method::PING => core.send(self.link, None, response_raw(id, b"{}")),
            method::ROOTS_LIST if core.config.capabilities.roots.is_some() => {
                let mut roots = ListRootsResult::new(core.config.roots.clone());
                roots.adapt(&self.rules.dialect);
                if let Ok(frame) = response(id, &roots) {
                    core.send(self.link, None, frame);
                }
            }
            method::INITIALIZE => {
                core.violation(Violation::SecondInitialize, size);
                let next = Next::tolerate(core, "a second initialize");
                if let Next::GoOn = next {
                    let refusal =
                        ErrorObject::new(code::INVALID_REQUEST, "only clients send initialize");
                    core.send(self.link, None, error_response(Some(id), &refusal));
                }
                return next;
            }
            _ => {
                if let Err(refusal) = self.hand_up(core, now, id, name, params) {
                    core.send(self.link, None, error_response(Some(id), &refusal));
                }
            }
        }
        Next::GoOn
    }

    /// Hands a request to the host, if we declared to answer such.
    fn hand_up(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        name: &str,
        params: Option<Bytes>,
    ) -> Result<(), ErrorObject> {
        answers(&core.config.capabilities, name, params.as_deref())?;
        let Session::Handshake(session) = &mut self.era else {
            return Ok(());
        };
        let size = params.as_ref().map_or(0, Bytes::len);
        match session.serving.open(core, id.clone(), size) {
            Ok(request) => {
                let method = name.into();
                core.event(Event::Request {
                    request,
                    method,
                    params,
                });
                core.hold_calls(now);
                Ok(())
            }
            Err(NotOpened::Duplicate) => {
                core.violation(Violation::DuplicateId, size);
                Err(ErrorObject::new(code::INVALID_REQUEST, "this id is in use"))
            }
            Err(NotOpened::TooMany) => {
                core.violation(Violation::TooManyRequests, size);
                Err(ErrorObject::new(
                    code::INTERNAL_ERROR,
                    "too many requests at once",
                ))
            }
        }
    }
}

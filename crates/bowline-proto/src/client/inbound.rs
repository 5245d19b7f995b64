//! Incoming frames while a session is open.

use bytes::Bytes;

use super::{
    CallId, ConnectionErrorKind, Event, Failure, Outcome, ProgressMode, TelemetryEvent,
    TransportKind, Violation, calls::Purpose, capability_check::check_request, core::Core,
    desired_state::DesiredChange, ready::Ready, redial::RedialPolicy, session::ResultKind,
    state::State,
};
use crate::{
    Instant,
    jsonrpc::{
        Envelope, ErrorObject, Messages, RequestId, ScanError, code, decode, error_response,
        response, response_raw, scan, scan_partial, slice_or_copy, split_batch,
    },
    model::{Adapt, CancelledParams, ListRootsResult, ProgressParams, method},
};

/// What to do after a message.
enum Flow {
    Continue,
    /// A violation that strict mode does not tolerate.
    Disconnect(&'static str),
}

impl Flow {
    /// Returns `Disconnect` in strict mode.
    fn disconnect_if_strict(core: &Core, reason: &'static str) -> Self {
        if core.config.strict {
            Self::Disconnect(reason)
        } else {
            Self::Continue
        }
    }
}

impl Ready {
    pub(super) fn handle_frame(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        frame: &Bytes,
    ) -> State {
        if frame.len() > core.config.max_frame_size {
            return self.handle_oversized_frame(core, now, frame.len(), frame);
        }
        let next = match split_batch(frame) {
            Ok(Messages::Single(message)) => self.handle_message(core, now, frame, message),
            Ok(Messages::Batch(messages)) if self.rules.batching => {
                let mut next = Flow::Continue;
                for message in messages {
                    if let Flow::Continue = next {
                        next = self.handle_message(core, now, frame, message);
                    }
                }
                next
            }
            Ok(Messages::Batch(_)) => {
                core.report_violation(Violation::Batch, frame.len());
                Flow::Continue
            }
            Err(error) => self.handle_malformed(core, now, &error, frame.len()),
        };
        match next {
            Flow::Continue => State::Ready(self),
            Flow::Disconnect(reason) => {
                let kind = ConnectionErrorKind::ProtocolViolation(reason.to_owned());
                self.close_session(core, now, kind, RedialPolicy::AfterBackoff)
            }
        }
    }

    /// Handles a frame over the size limit. It ends the call that it was the response
    /// to; frames that follow can still be read.
    pub(super) fn handle_oversized_frame(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        size: usize,
        prefix: &[u8],
    ) -> State {
        core.report_violation(Violation::OversizedFrame, size);
        let limit = core.config.max_frame_size;
        let wire_id = scan_partial(prefix).response_to();
        if let Some(id) = wire_id.and_then(|wire_id| core.calls.find_in_flight(wire_id)) {
            core.fail(now, id, Failure::ResponseTooLarge { size, limit });
        }
        // An HTTP exchange has already ended, so there is nothing to close.
        if !core.config.strict || core.config.transport == TransportKind::Http {
            return State::Ready(self);
        }
        self.close_session(
            core,
            now,
            ConnectionErrorKind::OversizedFrame { size, limit },
            RedialPolicy::AfterBackoff,
        )
    }

    fn handle_message(
        &mut self,
        core: &mut Core,
        now: Instant,
        frame: &Bytes,
        message: &[u8],
    ) -> Flow {
        match scan(message) {
            Ok(Envelope::Response {
                id,
                result,
                result_type,
            }) => {
                let result = slice_or_copy(frame, result);
                self.handle_response(core, now, &id, &result, result_type.as_deref());
            }
            Ok(Envelope::Error { id, error }) => self.handle_error(core, now, id.as_ref(), error),
            Ok(Envelope::Notification { method, params }) => {
                let params = params.map(|params| slice_or_copy(frame, params));
                self.handle_notification(core, now, &method, params);
            }
            Ok(Envelope::Request { id, method, params }) => {
                let params = params.map(|params| slice_or_copy(frame, params));
                return self.handle_request(core, now, &id, &method, params);
            }
            Err(error) => return self.handle_malformed(core, now, &error, message.len()),
        }
        Flow::Continue
    }

    /// Handles an invalid message. If it was meant as a response and its id can be
    /// read, the call that waits for it ends now.
    fn handle_malformed(
        &mut self,
        core: &mut Core,
        now: Instant,
        error: &ScanError,
        size: usize,
    ) -> Flow {
        core.report_violation(Violation::MalformedMessage, size);
        let wire_id = error.response_to();
        if let Some(id) = wire_id.and_then(|wire_id| core.calls.find_in_flight(wire_id)) {
            core.fail(
                now,
                id,
                Failure::InvalidResponse {
                    message: error.to_string(),
                },
            );
        }
        Flow::Continue
    }
}

/// Responses.
impl Ready {
    fn handle_response(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        result: &Bytes,
        result_type: Option<&str>,
    ) {
        let wire_id = id.as_u64();
        let Some(call) = wire_id.and_then(|wire_id| core.calls.find_in_flight(wire_id)) else {
            if !self.subscription_stream_ended(core, now, wire_id, None) {
                self.cancel_late_task(core, now, wire_id, result, result_type);
                core.report_unmatched_response(now, wire_id);
            }
            return;
        };
        match self.session.classify_result(core, call, result_type) {
            ResultKind::Complete => self.complete_call(core, now, call, result),
            ResultKind::InputRequired => self.handle_input_required(core, now, call, result),
            ResultKind::Invalid(reason) => {
                core.report_violation(Violation::InvalidResponse, result.len());
                core.fail(now, call, Failure::InvalidResponse { message: reason });
            }
        }
    }

    fn complete_call(&mut self, core: &mut Core, now: Instant, id: CallId, result: &Bytes) {
        let purpose = core.calls.get(id).map(|call| &call.purpose);
        let visible = match purpose {
            Some(Purpose::ListTools { .. }) => self.filter_page(core, result),
            _ => result.clone(),
        };
        let Some(purpose) = core.finish(now, id, Outcome::Result(visible)) else {
            return;
        };
        match purpose {
            Purpose::ListTools { has_cursor } => {
                self.modes.record_page(result, has_cursor);
                if self.decides_on_tasks() {
                    self.task_supports.record_page(result, has_cursor);
                }
            }
            Purpose::Change(change) => core.desired.apply(change),
            Purpose::Restore(DesiredChange::Subscribe(uri)) => {
                core.push_event(Event::Resubscribed { uris: vec![uri] });
            }
            Purpose::Relist(relisting) => self.relisted(core, now, *relisting, result),
            Purpose::ListForTasks { page } => self.tool_page_listed(core, now, page, result),
            Purpose::User | Purpose::Restore(_) | Purpose::CancelTask => {}
        }
    }

    fn handle_error(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: Option<&RequestId>,
        error: &[u8],
    ) {
        let wire_id = id.and_then(RequestId::as_u64);
        let in_flight = wire_id.and_then(|wire_id| core.calls.find_in_flight(wire_id));
        let outcome = match decode::<ErrorObject>(error) {
            Ok(error) => Outcome::Error(error),
            Err(decode_error) => Outcome::Failed(Failure::InvalidResponse {
                message: decode_error.to_string(),
            }),
        };
        let Some(call) = in_flight else {
            let error = if let Outcome::Error(error) = &outcome {
                Some(error)
            } else {
                None
            };
            if !self.subscription_stream_ended(core, now, wire_id, error) {
                core.report_unmatched_response(now, wire_id);
            }
            return;
        };
        self.finish_or_relist(core, now, call, outcome);
    }

    /// Ends a call with the server's response, unless requesting the tool list may
    /// help.
    pub(super) fn finish_or_relist(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        outcome: Outcome,
    ) {
        if let Outcome::Error(error) = &outcome
            && self.try_relist(core, now, id, error)
        {
            return;
        }
        core.finish(now, id, outcome);
    }

    /// Handles the end of a subscription stream, if `wire_id` is one.
    fn subscription_stream_ended(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: Option<u64>,
        error: Option<&ErrorObject>,
    ) -> bool {
        wire_id.is_some_and(|wire_id| self.session.stream_ended(core, now, wire_id, error))
    }
}

/// Notifications.
impl Ready {
    fn handle_notification(
        &mut self,
        core: &mut Core,
        now: Instant,
        name: &str,
        params: Option<Bytes>,
    ) {
        core.observe(|| TelemetryEvent::NotificationReceived {
            method: name.into(),
        });
        match name {
            method::PROGRESS => self.handle_progress(core, now, params.as_deref()),
            method::CANCELLED => self.handle_cancelled(core, now, params.as_deref()),
            method::SUBSCRIPTIONS_ACKNOWLEDGED => {
                self.session
                    .stream_acknowledged(core, now, params.as_deref());
            }
            _ if self.session.is_stale_change(params.as_deref()) => {}
            _ => {
                if name == method::TOOLS_LIST_CHANGED {
                    self.task_supports.forget();
                }
                core.push_event(Event::Notification {
                    method: name.into(),
                    params,
                });
            }
        }
    }

    fn handle_progress(&mut self, core: &mut Core, now: Instant, params: Option<&[u8]>) {
        let Ok(progress) = decode::<ProgressParams>(params.unwrap_or(b"{}")) else {
            core.report_violation(
                Violation::InvalidNotification,
                params.map_or(0, <[u8]>::len),
            );
            return;
        };
        let wire_id = progress.progress_token.as_u64();
        let Some(id) = wire_id.and_then(|wire_id| core.calls.find_in_flight(wire_id)) else {
            return;
        };
        let Some(call) = core.calls.get(id) else {
            return;
        };
        match (call.options.progress, call.max_deadline) {
            (ProgressMode::Off, _) => return,
            (ProgressMode::ExtendDeadline { .. }, Some(cap)) if !call.awaits_host => {
                let deadline = (now + call.timeout).min(cap);
                core.set_deadline(id, deadline);
            }
            (ProgressMode::Report | ProgressMode::ExtendDeadline { .. }, _) => {}
        }
        let progress = Box::new(progress);
        core.push_event(Event::Progress { call: id, progress });
    }

    /// Handles the server's cancellation of its own request or of a subscription
    /// stream. Ids are per direction: this never refers to one of our calls.
    fn handle_cancelled(&mut self, core: &mut Core, now: Instant, params: Option<&[u8]>) {
        let Ok(params) = decode::<CancelledParams>(params.unwrap_or(b"{}")) else {
            core.report_violation(
                Violation::InvalidNotification,
                params.map_or(0, <[u8]>::len),
            );
            return;
        };
        let Some(id) = params.request_id else {
            return;
        };
        self.session.cancelled_by_server(core, now, &id);
    }
}

/// Requests from the server.
impl Ready {
    fn handle_request(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        name: &str,
        params: Option<Bytes>,
    ) -> Flow {
        let size = params.as_ref().map_or(0, Bytes::len);
        if !self.session.accepts_requests() {
            // Clients send no responses in this era, so there is no way to answer.
            core.report_violation(Violation::ServerRequest, size);
            return Flow::disconnect_if_strict(
                core,
                "request in a revision without server requests",
            );
        }
        match name {
            method::PING => core.send(self.link, None, response_raw(id, b"{}")),
            method::ROOTS_LIST if core.config.capabilities.roots.is_some() => {
                let mut roots = ListRootsResult::new(core.config.roots.clone());
                roots.adapt(&self.rules.features);
                if let Ok(frame) = response(id, &roots) {
                    core.send(self.link, None, frame);
                }
            }
            method::INITIALIZE => {
                core.report_violation(Violation::SecondInitialize, size);
                let next = Flow::disconnect_if_strict(core, "initialize request from the server");
                if let Flow::Continue = next {
                    let send_error = ErrorObject::new(
                        code::INVALID_REQUEST,
                        "initialize must be sent by the client",
                    );
                    core.send(self.link, None, error_response(Some(id), &send_error));
                }
                return next;
            }
            _ => {
                if let Err(send_error) = self.deliver_request(core, now, id, name, params) {
                    core.send(self.link, None, error_response(Some(id), &send_error));
                }
            }
        }
        Flow::Continue
    }

    /// Delivers a request to the host, if we declared the capability for it.
    fn deliver_request(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        name: &str,
        params: Option<Bytes>,
    ) -> Result<(), ErrorObject> {
        check_request(&core.config.capabilities, name, params.as_deref())?;
        self.session.deliver_request(core, now, id, name, params)
    }
}

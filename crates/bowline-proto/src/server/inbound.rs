//! Incoming frames: splitting them into messages and routing each one.

use std::borrow::Cow;

use bytes::Bytes;

use super::{
    CancelReason, Config, Connection, Event, Outcome, RequestContext, RequestParams,
    TelemetryEvent, Violation,
    core::Phase,
    errors,
    failure::Failure,
    method_check,
    open_requests::{OpenRequest, Purpose},
    request_head::{ParamsScanner, RequestHead},
    stateless::{self, Rejection},
};
use crate::{
    Instant,
    jsonrpc::{
        Envelope, ErrorObject, Messages, RequestId, ScanError, decode, response_raw, scan_partial,
        scan_visiting, slice_or_copy, split_batch,
    },
    model::{
        CancelledParams, SetLevelParams, Side, SubscribeParams, UnsubscribeParams, decode_params,
        meta::key, method,
    },
    revision::{Era, handshake_revisions, stateless_revisions},
};

/// A request from the client that is being processed.
pub(super) struct IncomingRequest<'a> {
    pub(super) now: Instant,
    pub(super) id: &'a RequestId,
    pub(super) method: &'a str,
    pub(super) params: Option<&'a [u8]>,
    pub(super) batched: bool,
    /// The head found while scanning, if `params` has the usual form.
    head: Option<&'a RequestHead<'a>>,
    frame: &'a Bytes,
}

/// Frames and messages.
impl Connection {
    pub(super) fn handle_frame(&mut self, now: Instant, frame: &Bytes) {
        if frame.len() > self.core.config.max_frame_size {
            self.handle_oversized_frame(now, frame.len(), frame);
            return;
        }
        match split_batch(frame) {
            Ok(Messages::Single(message)) => self.handle_message(now, frame, message, false),
            Ok(Messages::Batch(messages)) => self.handle_batch(now, frame, messages),
            Err(error) => self.handle_malformed(now, &error, frame.len()),
        }
    }

    fn handle_batch(&mut self, now: Instant, frame: &Bytes, messages: Vec<&[u8]>) {
        // A refusal is longer than the message it refuses, so a batch must not
        // have as many messages as fit into a frame.
        let reason = if !self.allows_batches() {
            "batches are not supported"
        } else if messages.len() > self.core.config.max_requests {
            "the batch has too many messages"
        } else {
            for message in messages {
                // An earlier message of the batch may have completed a drain.
                if !self.core.is_closed() {
                    self.handle_message(now, frame, message, true);
                }
            }
            return;
        };
        self.core.report_violation(Violation::Batch, frame.len());
        self.core.refuse(None, &errors::invalid_request(reason));
    }

    /// Handles a frame over the limit. The sender of a request gets an error;
    /// an oversized response ends the call without an answer.
    pub(super) fn handle_oversized_frame(&mut self, now: Instant, size: usize, prefix: &[u8]) {
        self.core.report_violation(Violation::OversizedFrame, size);
        let partial = scan_partial(prefix);
        let error = errors::too_large(size, self.core.config.max_frame_size);
        if !partial.is_response {
            let id = partial.id.filter(|id| !self.is_id_in_use(id));
            self.core.refuse(id.as_ref(), &error);
        } else if let Some(id) = partial.id.as_ref().and_then(RequestId::as_u64) {
            self.finish_call(now, id, invalid_response(&error));
        }
    }

    fn allows_batches(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.rules.batching)
    }

    fn handle_message(&mut self, now: Instant, frame: &Bytes, message: &[u8], batched: bool) {
        let mut scanner = ParamsScanner::with_meta_cache(&self.meta_cache);
        let (envelope, visited) = match scan_visiting(message, &mut scanner) {
            Ok(scanned) => scanned,
            Err(error) => return self.handle_malformed(now, &error, message.len()),
        };
        match envelope {
            Envelope::Request { id, method, params } => {
                let (head, new_meta) = scanner.finish(params.filter(|_| visited));
                if let Some(meta) = new_meta {
                    self.meta_cache.store(meta, &head.members);
                }
                self.handle_request(&IncomingRequest {
                    now,
                    id: &id,
                    method: &method,
                    params,
                    batched,
                    head: visited.then_some(&head),
                    frame,
                });
            }
            Envelope::Notification { method, params } => {
                let params = params.map(|params| slice_or_copy(frame, params));
                self.handle_notification(now, &method, params);
            }
            Envelope::Response { id, result, .. } => {
                let outcome = Outcome::Result(slice_or_copy(frame, result));
                self.response_received(now, Some(&id), outcome, message.len());
            }
            Envelope::Error { id, error } => {
                let outcome = match decode::<ErrorObject>(error) {
                    Ok(error) => Outcome::Error(error),
                    Err(error) => invalid_response(&error),
                };
                self.response_received(now, id.as_ref(), outcome, message.len());
            }
        }
    }

    /// Handles a frame that is not a message. If it was meant as a response,
    /// its call fails now; otherwise the sender gets an error.
    ///
    /// The error carries the id if it can be read, unless an open request has
    /// the same id: its sender would take the error for its own response.
    fn handle_malformed(&mut self, now: Instant, error: &ScanError, size: usize) {
        self.core
            .report_violation(Violation::MalformedMessage, size);
        if error.is_response {
            if let Some(id) = error.id.as_ref().and_then(RequestId::as_u64) {
                self.finish_call(now, id, invalid_response(error));
            }
            return;
        }
        let id = error.id.as_ref().filter(|id| !self.is_id_in_use(id));
        let id = id.cloned();
        self.core.refuse(id.as_ref(), &Rejection::from(error).error);
    }
}

/// Requests.
impl Connection {
    fn handle_request(&mut self, incoming: &IncomingRequest<'_>) {
        if self.is_id_in_use(incoming.id) {
            let size = incoming.params.map_or(0, <[u8]>::len);
            self.core.report_violation(Violation::DuplicateId, size);
            // Not under that id: the response would end the first request.
            self.core.refuse(None, &errors::duplicate_id(incoming.id));
            return;
        }
        if let Err(error) = self.accept(incoming) {
            self.core.refuse(Some(incoming.id), &error);
        }
    }

    fn accept(&mut self, incoming: &IncomingRequest<'_>) -> Result<(), ErrorObject> {
        let decoded;
        let head = match incoming.head {
            Some(head) => head,
            None => {
                decoded = RequestHead::read(incoming.params)?;
                &decoded
            }
        };
        if !self.is_stateless(head, incoming.method) {
            return self.accept_in_session(incoming, head);
        }
        if incoming.batched {
            return Err(errors::invalid_request(
                "stateless requests must not be part of a batch",
            ));
        }
        let (config, cache) = (&self.core.config, &mut self.client_cache);
        let context = stateless::admit_head(config, incoming.method, head, cache)
            .map_err(|rejection| rejection.error)?;
        self.check_not_draining()?;
        match incoming.method {
            method::DISCOVER => self.discover(incoming, &context),
            method::SUBSCRIPTIONS_LISTEN => self.open_subscription_stream(incoming, context),
            _ => self.deliver(incoming, head, context, Purpose::Other),
        }
    }

    /// Returns whether a request belongs to the stateless era. What it carries
    /// decides; otherwise what this link has seen and what we support.
    fn is_stateless(&self, head: &RequestHead<'_>, name: &str) -> bool {
        let config = &self.core.config;
        let supports_stateless = config.supports_era(Era::Stateless);
        if head.is_stateless() {
            // A server without that era ignores unknown members, as every old
            // server does, once it has a session.
            return supports_stateless || self.session.is_none();
        }
        if !supports_stateless || self.session.is_some() || name == method::INITIALIZE {
            return false;
        }
        !config.supports_era(Era::Handshake) || is_only_stateless(name)
    }

    fn accept_in_session(
        &mut self,
        incoming: &IncomingRequest<'_>,
        head: &RequestHead<'_>,
    ) -> Result<(), ErrorObject> {
        match incoming.method {
            method::INITIALIZE => return self.initialize(incoming),
            method::PING => {
                self.core
                    .send_response(None, response_raw(incoming.id, b"{}"));
                return Ok(());
            }
            _ => {}
        }
        let Some(session) = &mut self.session else {
            self.core.report_violation(Violation::NoSession, 0);
            return Err(no_session_error(&self.core.config));
        };
        method_check::check_method(&self.core.config, session.rules, incoming.method)?;
        let params = incoming.params;
        let purpose = match incoming.method {
            method::LOGGING_SET_LEVEL => {
                session.log_level = requested_log_level(params)?;
                self.core
                    .send_response(None, response_raw(incoming.id, b"{}"));
                return Ok(());
            }
            method::RESOURCES_SUBSCRIBE => {
                let params: SubscribeParams = decode_or_invalid_params(params)?;
                let max = self.core.config.max_subscriptions;
                if !session.subscribed.has_capacity(&params.uri, max) {
                    return Err(errors::too_many("subscriptions"));
                }
                Purpose::Subscribe(params.uri.into())
            }
            method::RESOURCES_UNSUBSCRIBE => {
                let params: UnsubscribeParams = decode_or_invalid_params(params)?;
                Purpose::Unsubscribe(params.uri.into())
            }
            _ => Purpose::Other,
        };
        let context = RequestContext {
            rules: session.rules,
            client: session.client.clone(),
            server_info: self.core.config.server_info.clone(),
            server_info_json: None,
            progress_token: head.get(key::PROGRESS_TOKEN)?,
            log_level: None,
        };
        self.check_not_draining()?;
        self.deliver(incoming, head, context, purpose)
    }

    fn deliver(
        &mut self,
        incoming: &IncomingRequest<'_>,
        head: &RequestHead<'_>,
        context: RequestContext,
        purpose: Purpose,
    ) -> Result<(), ErrorObject> {
        let size = incoming.params.map_or(0, <[u8]>::len) + size_of_id(incoming.id);
        let config = &self.core.config;
        let too_large = self.requests.bytes() + size > config.max_request_bytes();
        if self.requests.len() >= config.max_requests || too_large {
            self.core.report_violation(Violation::TooManyRequests, size);
            return Err(errors::too_many("requests"));
        }
        let method = intern_method(incoming.method);
        let request = self.requests.open(OpenRequest {
            id: incoming.id.clone(),
            method: method.clone(),
            size,
            rules: context.rules,
            progress_token: context.progress_token.clone(),
            log_level: context.log_level.clone(),
            purpose,
            started: incoming.now,
            notifier: super::RequestNotifier::default(),
        });
        self.core.observe(|| TelemetryEvent::RequestStart {
            request: request.number,
            method: method.clone(),
            revision: context.rules.revision,
        });
        self.core.push_event(Event::Request {
            request,
            id: incoming.id.clone(),
            method,
            params: incoming.params.map(|params| {
                RequestParams::new(slice_or_copy(incoming.frame, params), head.call_spans())
            }),
            context: Box::new(context),
        });
        Ok(())
    }

    pub(super) fn check_not_draining(&self) -> Result<(), ErrorObject> {
        match self.core.phase {
            Phase::Open => Ok(()),
            Phase::Draining { .. } | Phase::Closed => Err(errors::shutting_down()),
        }
    }

    /// Returns whether an id belongs to an open request.
    pub(super) fn is_id_in_use(&self, id: &RequestId) -> bool {
        self.requests.find(id).is_some() || self.subscription_streams.contains(id)
    }
}

/// Notifications.
impl Connection {
    fn handle_notification(&mut self, now: Instant, name: &str, params: Option<Bytes>) {
        self.core.observe(|| TelemetryEvent::NotificationReceived {
            method: name.into(),
        });
        let size = params.as_ref().map_or(0, Bytes::len);
        match name {
            method::CANCELLED => match decode_params::<CancelledParams>(params.as_deref()) {
                Ok(params) => self.cancel_received(now, params),
                Err(_) => self
                    .core
                    .report_violation(Violation::InvalidNotification, size),
            },
            method::INITIALIZED => match &mut self.session {
                Some(session) if !session.initialized => {
                    session.initialized = true;
                    self.core.push_event(Event::Initialized);
                }
                Some(_) | None => self
                    .core
                    .report_violation(Violation::InvalidNotification, size),
            },
            _ => {
                let rules = self.session.as_ref().map(|session| session.rules);
                let method = intern_method(name);
                if method_check::accepts_notification(&self.core.config, rules, name) {
                    self.core.push_event(Event::Notification { method, params });
                } else {
                    self.core
                        .observe(|| TelemetryEvent::NotificationDropped { method });
                }
            }
        }
    }

    /// Handles a cancellation. The request may have been answered meanwhile,
    /// which is not a violation.
    fn cancel_received(&mut self, now: Instant, params: CancelledParams) {
        let Some(id) = params.request_id else {
            return;
        };
        if let Some(request) = self.requests.find(&id) {
            self.core.observe(|| TelemetryEvent::CancelReceived {
                request: request.number,
            });
            let reason = params.reason.map(String::into_boxed_str);
            self.cancel_request(now, request, CancelReason::Client(reason));
            self.finish_drain(now);
        } else {
            self.subscription_stream_cancelled(now, &id);
        }
    }
}

fn size_of_id(id: &RequestId) -> usize {
    match id {
        RequestId::String(id) => id.len(),
        RequestId::Number(_) => 0,
    }
}

/// The error for a request without a session. If we support stateless requests,
/// the message mentions them, since the client may have meant that.
fn no_session_error(config: &Config) -> ErrorObject {
    if !config.supports_era(Era::Stateless) {
        return errors::invalid_request("send initialize first");
    }
    let version = key::PROTOCOL_VERSION;
    let reason = format!(
        "send initialize first, or set the protocol version in _meta, for example {version}"
    );
    errors::invalid_request(&reason)
}

/// Returns whether only stateless revisions have the method.
fn is_only_stateless(name: &str) -> bool {
    let in_stateless = stateless_revisions().any(|it| it.rules().allows(name, Side::Client));
    in_stateless && !handshake_revisions().any(|it| it.rules().allows(name, Side::Client))
}

/// Returns the method's name, as a static string if it is a known method.
fn intern_method(name: &str) -> Cow<'static, str> {
    match method::info(name) {
        Some(info) => info.name.into(),
        None => name.to_owned().into(),
    }
}

fn decode_or_invalid_params<T: serde::de::DeserializeOwned>(
    params: Option<&[u8]>,
) -> Result<T, ErrorObject> {
    decode_params(params).map_err(|error| errors::invalid_params(&error))
}

fn requested_log_level(params: Option<&[u8]>) -> Result<crate::model::LogLevel, ErrorObject> {
    let SetLevelParams { level, .. } = decode_or_invalid_params(params)?;
    if crate::model::LogLevel::ALL.contains(&level) {
        Ok(level)
    } else {
        Err(stateless::unknown_level(&level))
    }
}

fn invalid_response(error: &impl ToString) -> Outcome {
    Outcome::Failed(Failure::InvalidResponse {
        message: error.to_string(),
    })
}

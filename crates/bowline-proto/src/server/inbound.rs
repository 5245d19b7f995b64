//! What arrives: frames, the messages in them, and where each belongs.

use std::borrow::Cow;

use bytes::Bytes;

use super::{
    Config, Connection, Event, Outcome, RequestContext, Telemetry, Violation, Withdrawal,
    core::Phase,
    errors, gate,
    head::{Glance, Head},
    outcome::Failure,
    requests::{Open, Purpose},
    stateless::{self, Rejection},
};
use crate::{
    Instant,
    jsonrpc::{
        Envelope, ErrorObject, Messages, RequestId, ScanError, decode, part_of, response_raw,
        salvage, scan_with, split,
    },
    model::{
        CancelledParams, SetLevelParams, Side, SubscribeParams, UnsubscribeParams, decode_params,
        meta::key, method,
    },
    revision::{Era, handshake_revisions, stateless_revisions},
};

/// A request of the client's on its way in.
pub(super) struct Arrival<'a> {
    pub(super) now: Instant,
    pub(super) id: &'a RequestId,
    pub(super) method: &'a str,
    pub(super) params: Option<&'a [u8]>,
    pub(super) batched: bool,
    /// What was seen of the params on the way, if they are written as usual.
    head: Option<&'a Head<'a>>,
    frame: &'a Bytes,
}

/// Frames and messages.
impl Connection {
    pub(super) fn frame(&mut self, now: Instant, frame: &Bytes) {
        if frame.len() > self.core.config.max_frame {
            self.oversize(now, frame.len(), frame);
            return;
        }
        match split(frame) {
            Ok(Messages::One(message)) => self.message(now, frame, message, false),
            Ok(Messages::Batch(messages)) => self.batch(now, frame, messages),
            Err(fault) => self.garbage(now, &fault, frame.len()),
        }
    }

    fn batch(&mut self, now: Instant, frame: &Bytes, messages: Vec<&[u8]>) {
        // A refusal is longer than what it may refuse, so that a batch must not
        // have as many messages as fit into a frame.
        let why = if !self.takes_batches() {
            "there are no batches here"
        } else if messages.len() > self.core.config.max_requests {
            "the batch has too many messages"
        } else {
            for message in messages {
                // One of them may have been the last thing to wait for.
                if !self.core.is_closed() {
                    self.message(now, frame, message, true);
                }
            }
            return;
        };
        self.core.violation(Violation::Batch, frame.len());
        self.core.refuse(None, &errors::invalid_request(why));
    }

    /// A frame over the limit. Who asked too much is told; who answered too much
    /// has not answered.
    pub(super) fn oversize(&mut self, now: Instant, size: usize, prefix: &[u8]) {
        self.core.violation(Violation::Oversize, size);
        let known = salvage(prefix);
        let error = errors::too_large(size, self.core.config.max_frame);
        if !known.is_response {
            let id = known.id.filter(|id| !self.in_use(id));
            self.core.refuse(id.as_ref(), &error);
        } else if let Some(id) = known.id.as_ref().and_then(RequestId::as_u64) {
            self.finish_call(now, id, invalid_answer(&error));
        }
    }

    fn takes_batches(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.rules.batching)
    }

    fn message(&mut self, now: Instant, frame: &Bytes, message: &[u8], batched: bool) {
        let mut glance = Glance::knowing(&self.last_meta);
        let (envelope, seen) = match scan_with(message, &mut glance) {
            Ok(scanned) => scanned,
            Err(fault) => return self.garbage(now, &fault, message.len()),
        };
        match envelope {
            Envelope::Request { id, method, params } => {
                let (head, new_meta) = glance.head(params.filter(|_| seen));
                if let Some(meta) = new_meta {
                    self.last_meta.remember(meta, &head.members);
                }
                self.request(&Arrival {
                    now,
                    id: &id,
                    method: &method,
                    params,
                    batched,
                    head: seen.then_some(&head),
                    frame,
                });
            }
            Envelope::Notification { method, params } => {
                let params = params.map(|params| part_of(frame, params));
                self.notification(now, &method, params);
            }
            Envelope::Response { id, result, .. } => {
                let outcome = Outcome::Result(part_of(frame, result));
                self.answered(now, Some(&id), outcome, message.len());
            }
            Envelope::Error { id, error } => {
                let outcome = match decode::<ErrorObject>(error) {
                    Ok(error) => Outcome::Refused(error),
                    Err(fault) => invalid_answer(&fault),
                };
                self.answered(now, id.as_ref(), outcome, message.len());
            }
        }
    }

    /// Something that is not a message. If it was meant as an answer, the call
    /// that waits for it need not wait longer; otherwise its sender is told.
    ///
    /// An id that can be read is answered under, unless another request has it:
    /// that one's sender would take the answer for its own.
    fn garbage(&mut self, now: Instant, fault: &ScanError, size: usize) {
        self.core.violation(Violation::Garbage, size);
        if fault.is_response {
            if let Some(id) = fault.id.as_ref().and_then(RequestId::as_u64) {
                self.finish_call(now, id, invalid_answer(fault));
            }
            return;
        }
        let id = fault.id.as_ref().filter(|id| !self.in_use(id));
        let id = id.cloned();
        self.core.refuse(id.as_ref(), &Rejection::from(fault).error);
    }
}

/// Requests.
impl Connection {
    fn request(&mut self, arrival: &Arrival<'_>) {
        if self.in_use(arrival.id) {
            let size = arrival.params.map_or(0, <[u8]>::len);
            self.core.violation(Violation::DuplicateId, size);
            // Not under that id: the answer would end the first request.
            self.core.refuse(None, &errors::duplicate_id(arrival.id));
            return;
        }
        if let Err(error) = self.take_in(arrival) {
            self.core.refuse(Some(arrival.id), &error);
        }
    }

    fn take_in(&mut self, arrival: &Arrival<'_>) -> Result<(), ErrorObject> {
        let read;
        let head = match arrival.head {
            Some(head) => head,
            None => {
                read = Head::read(arrival.params)?;
                &read
            }
        };
        if !self.is_stateless(head, arrival.method) {
            return self.take_in_session(arrival, head);
        }
        if arrival.batched {
            return Err(errors::invalid_request("stateless requests come alone"));
        }
        let (config, last) = (&self.core.config, &mut self.last_client);
        let context = stateless::admit_head(config, arrival.method, head, last)
            .map_err(|rejection| rejection.error)?;
        self.refuse_while_draining()?;
        match arrival.method {
            method::DISCOVER => self.discover(arrival, &context),
            method::SUBSCRIPTIONS_LISTEN => self.listen(arrival, context),
            _ => self.hand_up(arrival, context, Purpose::Plain),
        }
    }

    /// Which era a request belongs to. What it carries decides; where it carries
    /// nothing, what this link has seen and what we speak.
    fn is_stateless(&self, head: &Head<'_>, name: &str) -> bool {
        let config = &self.core.config;
        let speaks = config.speaks(Era::Stateless);
        if head.speaks_for_itself() {
            // A server without that era ignores what it does not know, as every
            // old server does, once it knows its client.
            return speaks || self.session.is_none();
        }
        if !speaks || self.session.is_some() || name == method::INITIALIZE {
            return false;
        }
        !config.speaks(Era::Handshake) || is_only_stateless(name)
    }

    fn take_in_session(
        &mut self,
        arrival: &Arrival<'_>,
        head: &Head<'_>,
    ) -> Result<(), ErrorObject> {
        match arrival.method {
            method::INITIALIZE => return self.initialize(arrival),
            method::PING => {
                self.core.answer(None, response_raw(arrival.id, b"{}"));
                return Ok(());
            }
            _ => {}
        }
        let Some(session) = &mut self.session else {
            self.core.violation(Violation::NotOpened, 0);
            return Err(not_opened(&self.core.config));
        };
        gate::check(&self.core.config, session.rules, arrival.method)?;
        let params = arrival.params;
        let purpose = match arrival.method {
            method::LOGGING_SET_LEVEL => {
                session.log_level = wanted_level(params)?;
                self.core.answer(None, response_raw(arrival.id, b"{}"));
                return Ok(());
            }
            method::RESOURCES_SUBSCRIBE => {
                let params: SubscribeParams = read(params)?;
                let max = self.core.config.max_subscriptions;
                if !session.watched.has_room(&params.uri, max) {
                    return Err(errors::too_many("subscriptions"));
                }
                Purpose::Watch(params.uri.into())
            }
            method::RESOURCES_UNSUBSCRIBE => {
                let params: UnsubscribeParams = read(params)?;
                Purpose::Unwatch(params.uri.into())
            }
            _ => Purpose::Plain,
        };
        let context = RequestContext {
            rules: session.rules,
            client: session.client.clone(),
            server: self.core.config.identity.clone(),
            introduction: None,
            progress_token: head.get(key::PROGRESS_TOKEN)?,
            log_level: None,
            call: head.call(),
        };
        self.refuse_while_draining()?;
        self.hand_up(arrival, context, purpose)
    }

    fn hand_up(
        &mut self,
        arrival: &Arrival<'_>,
        context: RequestContext,
        purpose: Purpose,
    ) -> Result<(), ErrorObject> {
        let size = arrival.params.map_or(0, <[u8]>::len) + size_of_id(arrival.id);
        let config = &self.core.config;
        let too_large = self.requests.bytes() + size > config.max_request_bytes();
        if self.requests.len() >= config.max_requests || too_large {
            self.core.violation(Violation::TooManyRequests, size);
            return Err(errors::too_many("requests"));
        }
        let method = known_name(arrival.method);
        let request = self.requests.open(Open {
            id: arrival.id.clone(),
            method: method.clone(),
            size,
            rules: context.rules,
            progress_token: context.progress_token.clone(),
            log_level: context.log_level.clone(),
            purpose,
            started: arrival.now,
            telling: super::Telling::default(),
        });
        self.core.observe(|| Telemetry::RequestStart {
            request: request.number,
            method: method.clone(),
            revision: context.rules.revision,
        });
        self.core.event(Event::Request {
            request,
            id: arrival.id.clone(),
            method,
            params: arrival.params.map(|params| part_of(arrival.frame, params)),
            context: Box::new(context),
        });
        Ok(())
    }

    pub(super) fn refuse_while_draining(&self) -> Result<(), ErrorObject> {
        match self.core.phase {
            Phase::Open => Ok(()),
            Phase::Draining { .. } | Phase::Closed => Err(errors::shutting_down()),
        }
    }

    /// Whether an id belongs to a request that is not answered yet.
    pub(super) fn in_use(&self, id: &RequestId) -> bool {
        self.requests.find(id).is_some() || self.listens.contains(id)
    }
}

/// Notifications.
impl Connection {
    fn notification(&mut self, now: Instant, name: &str, params: Option<Bytes>) {
        self.core.observe(|| Telemetry::NotificationReceived {
            method: name.into(),
        });
        let size = params.as_ref().map_or(0, Bytes::len);
        match name {
            method::CANCELLED => match decode_params::<CancelledParams>(params.as_deref()) {
                Ok(params) => self.called_off(now, params),
                Err(_) => self.core.violation(Violation::BadNotification, size),
            },
            method::INITIALIZED => match &mut self.session {
                Some(session) if !session.initialized => {
                    session.initialized = true;
                    self.core.event(Event::Initialized);
                }
                Some(_) | None => self.core.violation(Violation::BadNotification, size),
            },
            _ => {
                let rules = self.session.as_ref().map(|session| session.rules);
                let method = known_name(name);
                if gate::hears(&self.core.config, rules, name) {
                    self.core.event(Event::Notification { method, params });
                } else {
                    self.core
                        .observe(|| Telemetry::NotificationDropped { method });
                }
            }
        }
    }

    /// The client called a request off. It may have been answered meanwhile,
    /// which is nobody's fault.
    fn called_off(&mut self, now: Instant, params: CancelledParams) {
        let Some(id) = params.request_id else {
            return;
        };
        if let Some(request) = self.requests.find(&id) {
            self.core.observe(|| Telemetry::CancelReceived {
                request: request.number,
            });
            let reason = params.reason.map(String::into_boxed_str);
            self.withdraw(now, request, Withdrawal::ByClient(reason));
            self.settle(now);
        } else {
            self.listen_called_off(now, &id);
        }
    }
}

fn size_of_id(id: &RequestId) -> usize {
    match id {
        RequestId::String(id) => id.len(),
        RequestId::Number(_) => 0,
    }
}

/// There is no session yet. Where requests may speak for themselves, that is
/// the other thing that the client may have meant.
fn not_opened(config: &Config) -> ErrorObject {
    if !config.speaks(Era::Stateless) {
        return errors::invalid_request("initialize first");
    }
    let version = key::PROTOCOL_VERSION;
    let why = format!("initialize first, or name a revision in _meta, as {version}");
    errors::invalid_request(&why)
}

/// Whether only stateless revisions have the method.
fn is_only_stateless(name: &str) -> bool {
    let new = stateless_revisions().any(|it| it.rules().allows(name, Side::Client));
    new && !handshake_revisions().any(|it| it.rules().allows(name, Side::Client))
}

/// The method's name, borrowed from the program where it is one of ours.
fn known_name(name: &str) -> Cow<'static, str> {
    match method::info(name) {
        Some(info) => info.name.into(),
        None => name.to_owned().into(),
    }
}

fn read<T: serde::de::DeserializeOwned>(params: Option<&[u8]>) -> Result<T, ErrorObject> {
    decode_params(params).map_err(|fault| errors::invalid_params(&fault))
}

fn wanted_level(params: Option<&[u8]>) -> Result<crate::model::LogLevel, ErrorObject> {
    let SetLevelParams { level, .. } = read(params)?;
    if crate::model::LogLevel::ALL.contains(&level) {
        Ok(level)
    } else {
        Err(stateless::unknown_level(&level))
    }
}

fn invalid_answer(fault: &impl ToString) -> Outcome {
    Outcome::Failed(Failure::InvalidAnswer {
        why: fault.to_string(),
    })
}

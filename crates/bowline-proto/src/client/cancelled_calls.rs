//! Cancellation of requests, and the ids of cancelled ones, kept so a late response is
//! recognised.

use std::{collections::BTreeMap, time::Duration};

use super::{LinkId, Output, TelemetryEvent, TransportKind, core::Core};
use crate::{
    Instant,
    jsonrpc::OutgoingMessage,
    model::{CancelledParams, method},
    revision::Rules,
};

/// Classification of a response that matches no open request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnmatchedResponse {
    /// The request was cancelled and its response is late.
    Late,
    /// The id is unknown.
    Unknown,
}

/// Recently cancelled ids. Limited in time and in number.
#[derive(Debug)]
pub(super) struct CancelledCalls {
    expiry: BTreeMap<u64, Instant>,
    ttl: Duration,
    max_entries: usize,
}

impl CancelledCalls {
    pub(super) fn new(ttl: Duration, max_entries: usize) -> Self {
        Self {
            expiry: BTreeMap::new(),
            ttl,
            max_entries,
        }
    }

    pub(super) fn insert(&mut self, now: Instant, id: u64) {
        self.expiry.insert(id, now + self.ttl);
        if self.expiry.len() > self.max_entries {
            // The smallest id is the oldest request, the least likely to still be
            // answered.
            self.expiry.pop_first();
        }
    }

    /// Classifies an id. Checks the expiry here too, not only in the sweep.
    pub(super) fn classify(&self, now: Instant, id: u64) -> UnmatchedResponse {
        match self.expiry.get(&id) {
            Some(expiry) if now < *expiry => UnmatchedResponse::Late,
            Some(_) | None => UnmatchedResponse::Unknown,
        }
    }

    /// Returns whether the response to `id` is late.
    pub(super) fn is_late(&self, now: Instant, id: u64) -> bool {
        self.classify(now, id) == UnmatchedResponse::Late
    }

    /// Removes expired ids and returns how many.
    pub(super) fn sweep(&mut self, now: Instant) -> usize {
        let before = self.expiry.len();
        self.expiry.retain(|_, expiry| now < *expiry);
        before - self.expiry.len()
    }

    /// Removes all ids: no response can be late any more.
    pub(super) fn clear(&mut self) {
        self.expiry.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.expiry.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.expiry.is_empty()
    }
}

impl Core {
    /// Cancels the request `wire_id` on the server.
    pub(super) fn send_cancel(
        &mut self,
        now: Instant,
        link: LinkId,
        rules: &Rules,
        wire_id: u64,
        reason: &str,
    ) {
        self.remember_cancelled(now, wire_id);
        let is_http = self.config.transport == TransportKind::Http;
        if !is_http || !rules.disconnect_cancels {
            let params = CancelledParams {
                request_id: Some(wire_id.into()),
                reason: Some(reason.to_owned()),
                ..CancelledParams::default()
            };
            if let Ok(message) = OutgoingMessage::new(method::CANCELLED, &params) {
                self.send(link, None, message.into_notification());
            }
        }
        if is_http {
            self.push_output(Output::Abort { link, id: wire_id });
        }
        self.observe(|| TelemetryEvent::CancelSent { id: wire_id });
    }
}

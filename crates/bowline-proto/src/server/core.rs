//! Shared state of the connection: settings, phase and queued outputs.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;

use super::{Config, Event, Output, RequestKey, TelemetryEvent, Violation};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, RequestId, error_response},
    model::{Notification, WireFeatures},
};

/// The settings, the phase of the connection, and the queued outputs.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: Arc<Config>,
    pub(super) phase: Phase,
    outputs: VecDeque<Output>,
}

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Requests are accepted.
    Open,
    /// No new requests are accepted; open ones may finish until the deadline.
    Draining { deadline: Instant },
    /// The connection has ended.
    Closed,
}

impl Core {
    pub(super) fn new(config: Arc<Config>) -> Self {
        Self {
            config,
            phase: Phase::Open,
            outputs: VecDeque::new(),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    pub(super) fn push_output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(super) fn pop_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    pub(super) fn outputs_pending(&self) -> usize {
        self.outputs.len()
    }

    pub(super) fn push_event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    /// Records an observation if telemetry is on. The end of the connection is
    /// the last one.
    pub(super) fn observe(&mut self, telemetry: impl FnOnce() -> TelemetryEvent) {
        if self.config.telemetry && !self.is_closed() {
            self.outputs.push_back(Output::Telemetry(telemetry()));
        }
    }

    pub(super) fn report_violation(&mut self, violation: Violation, size: usize) {
        self.observe(|| TelemetryEvent::Violation { violation, size });
    }

    /// Sends a frame that is not a response.
    pub(super) fn send(&mut self, request: Option<RequestKey>, frame: Bytes) {
        self.push_frame(request, false, frame);
    }

    /// Sends a response. `request` is `None` for requests that were not passed
    /// to the host.
    pub(super) fn send_response(&mut self, request: Option<RequestKey>, frame: Bytes) {
        self.push_frame(request, true, frame);
    }

    fn push_frame(&mut self, request: Option<RequestKey>, is_response: bool, frame: Bytes) {
        self.outputs.push_back(Output::Send {
            request,
            is_response,
            frame,
        });
    }

    /// Refuses a message without asking the host.
    pub(super) fn refuse(&mut self, id: Option<&RequestId>, error: &ErrorObject) {
        self.send_response(None, error_response(id, error));
        self.observe(|| TelemetryEvent::RequestRefused { code: error.code });
    }

    /// Sends a notification adapted to the wire format. Returns whether it could be
    /// encoded within the frame limit.
    pub(super) fn notify<N: Notification>(
        &mut self,
        request: Option<RequestKey>,
        features: &WireFeatures,
        mut params: N,
    ) -> bool {
        params.adapt(features);
        match OutgoingMessage::new(N::METHOD, &params) {
            Ok(message) if message.len() <= self.config.max_frame_size => {
                self.send(request, message.into_notification());
                true
            }
            Ok(_) | Err(_) => self.notification_dropped(N::METHOD),
        }
    }

    /// Records that a notification was not sent. Returns false.
    pub(super) fn notification_dropped(&mut self, method: &'static str) -> bool {
        self.observe(|| TelemetryEvent::NotificationDropped {
            method: method.into(),
        });
        false
    }
}

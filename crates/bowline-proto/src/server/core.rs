//! What every part of the machine needs: the settings, and a way to speak.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;

use super::{Config, Event, Output, RequestKey, Telemetry, Violation};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, RequestId, error_response},
    model::{Dialect, Notification},
};

/// The settings, how far the connection's life has come, and what is to be said.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: Arc<Config>,
    pub(super) phase: Phase,
    outputs: VecDeque<Output>,
}

/// How far the life of a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Requests are taken.
    Open,
    /// No new requests; those under way may finish until then.
    Draining { deadline: Instant },
    /// It is over.
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

    /// Observes, if anybody wants to know. The end is the last observation.
    pub(super) fn observe(&mut self, telemetry: impl FnOnce() -> Telemetry) {
        if self.config.telemetry && !self.is_closed() {
            self.outputs.push_back(Output::Telemetry(telemetry()));
        }
    }

    pub(super) fn report_violation(&mut self, violation: Violation, size: usize) {
        self.observe(|| Telemetry::Violation { violation, size });
    }

    /// Says something that is no answer.
    pub(super) fn send(&mut self, request: Option<RequestKey>, frame: Bytes) {
        self.push_frame(request, false, frame);
    }

    /// Answers a request; of those that the host was not asked about, the name
    /// is not known.
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
        self.observe(|| Telemetry::RequestRefused { code: error.code });
    }

    /// Sends a notification as the dialect has it; says whether it could.
    pub(super) fn notify<N: Notification>(
        &mut self,
        request: Option<RequestKey>,
        dialect: &Dialect,
        mut params: N,
    ) -> bool {
        params.adapt(dialect);
        match OutgoingMessage::new(N::METHOD, &params) {
            Ok(message) if message.len() <= self.config.max_frame_size => {
                self.send(request, message.into_notification());
                true
            }
            Ok(_) | Err(_) => self.notification_dropped(N::METHOD),
        }
    }

    /// Counts a notification of ours that nobody will hear.
    pub(super) fn notification_dropped(&mut self, method: &'static str) -> bool {
        self.observe(|| Telemetry::NotificationDropped {
            method: method.into(),
        });
        false
    }
}

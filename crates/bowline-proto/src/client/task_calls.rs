//! Calls that may become tasks, and calls about tasks.

use super::{
    CallId, CallOptions, CallPolicy, Failure, TaskMode,
    calls::{Call, Purpose},
    core::Core,
    ready::Ready,
    request::{CallKind, Request},
    rounds::{answer_roots, check_offered},
    stateless::StatelessSession,
};
use crate::{
    Instant,
    model::{CancelTaskParams, InputRequests, InputResponses, method, task},
    task::{Dialect, TaskInfo},
};

impl Request {
    /// Creates the request that cancels a task, whose response nobody waits for.
    pub(super) fn cancel_task(id: &str) -> Option<Self> {
        let mut request = Self::new(CancelTaskParams::new(id)).ok()?;
        request.is_unattended = true;
        Some(request)
    }
}

impl CallOptions {
    /// The options of requests about tasks, which are safe to repeat and outlive
    /// connections.
    pub(super) fn for_task() -> Self {
        Self {
            policy: CallPolicy::WaitForConnection,
            retry_on_disconnect: true,
            check_capabilities: false,
            ..Self::default()
        }
    }
}

impl Call {
    /// Returns whether the request declares that this client can follow tasks.
    pub(super) fn declares_tasks(&self) -> bool {
        match &*self.method {
            method::TOOLS_CALL => self.options.task != TaskMode::Refuse,
            other => is_task_method(other),
        }
    }
}

impl StatelessSession {
    /// Returns whether a call may be answered with a task.
    pub(super) fn accepts_task(call: &Call) -> bool {
        // The second is a mistake in examples of the specification.
        call.method == method::TASKS_GET
            || call.declares_tasks() && call.method == method::TOOLS_CALL
    }
}

impl Ready {
    /// Checks that the server declared what a request about tasks needs.
    pub(super) fn check_task_method(&self, name: &str) -> Result<(), Failure> {
        if !is_task_method(name) {
            return Ok(());
        }
        let capability = match Dialect::of(&self.rules.features) {
            Some(Dialect::Core) => match name {
                method::TASKS_LIST => "tasks.list",
                method::TASKS_CANCEL => "tasks.cancel",
                _ => "tasks",
            },
            _ if self.server.capabilities.has_extension(task::EXTENSION_ID) => return Ok(()),
            _ => task::EXTENSION_ID,
        };
        match self.server.has_capability(capability) {
            true => Ok(()),
            false => Err(Failure::CapabilityNotSupported { capability }),
        }
    }

    /// Returns whether a request of ours needs a capability. A server of the extension
    /// that created a task has it.
    pub(super) fn must_check_task_call(&self, call: &Call) -> bool {
        call.purpose == Purpose::CancelTask
            && Dialect::of(&self.rules.features) == Some(Dialect::Core)
    }

    /// Cancels a request that was sent. One that asks for a task cannot be cancelled
    /// before its task is known: if it still becomes one, that is cancelled.
    pub(super) fn cancel_sent(
        &self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        wire_id: u64,
        reason: &str,
    ) {
        let is_task = core.calls.get(id).is_some_and(|call| call.asks_for_task);
        if is_task {
            core.remember_cancelled(now, wire_id);
        } else {
            self.send_cancel(core, now, wire_id, reason);
        }
    }

    /// Cancels the task that a call became after it was given up, if the late response
    /// names one.
    pub(super) fn cancel_late_task(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: Option<u64>,
        result: &[u8],
        result_type: Option<&str>,
    ) {
        let is_late = wire_id.is_some_and(|wire_id| core.cancelled_calls.is_late(now, wire_id));
        let dialect = Dialect::of(&self.rules.features);
        let Some(dialect) = dialect.filter(|_| is_late) else {
            return;
        };
        if dialect == Dialect::Extension && result_type != Some("task") {
            return;
        }
        let Ok(task) = TaskInfo::from_create_result(dialect, result) else {
            return;
        };
        if let Some(request) = Request::cancel_task(&task.id) {
            let id = CallId(core.ids.next_id());
            self.start_call(
                core,
                now,
                id,
                CallKind::Request(request),
                CallOptions::for_task(),
            );
        }
    }
}

/// The questions of a task, prepared for the host.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedQuestions {
    /// The questions for the host.
    pub questions: InputRequests,
    /// The answers to the others, which this client knows: the roots.
    pub answers: InputResponses,
}

impl Core {
    /// Checks that the questions of a task are about what this client offers, and
    /// answers those about roots.
    pub(super) fn prepare_questions(
        &self,
        mut questions: InputRequests,
    ) -> Result<PreparedQuestions, Failure> {
        check_offered(&questions, &self.config.capabilities)?;
        let answers = answer_roots(self, &mut questions);
        Ok(PreparedQuestions { questions, answers })
    }
}

fn is_task_method(name: &str) -> bool {
    matches!(
        name,
        method::TASKS_GET
            | method::TASKS_RESULT
            | method::TASKS_LIST
            | method::TASKS_CANCEL
            | method::TASKS_UPDATE
    )
}

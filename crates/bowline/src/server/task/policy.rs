//! When a call becomes a task.

use std::time::Duration;

use crate::proto::model::{TaskSupport, ToolExecution};

/// When a call of a tool becomes a task.
///
/// In revision 2025-11-25 the client decides, within what the tool allows; in
/// 2026-07-28 the server does, if the client can receive tasks. Clients of other
/// revisions never get one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskPolicy {
    /// Whenever the client can receive one.
    Optional,
    /// Always. Clients that cannot receive one get an error.
    Required,
    /// If it takes longer than this and the client can receive one. Until then,
    /// questions are asked as without a task.
    ///
    /// In revision 2025-11-25 the client decides before the call, as with
    /// [`Optional`](Self::Optional).
    After(Duration),
}

impl TaskPolicy {
    /// Returns how the core tells clients of it.
    pub(crate) fn execution(self) -> ToolExecution {
        let mut execution = ToolExecution::default();
        execution.task_support = Some(self.support());
        execution
    }

    pub(super) fn support(self) -> TaskSupport {
        match self {
            Self::Optional | Self::After(_) => TaskSupport::Optional,
            Self::Required => TaskSupport::Required,
        }
    }
}

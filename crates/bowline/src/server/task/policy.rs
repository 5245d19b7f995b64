//! When a call becomes a task.

use std::time::Duration;

use crate::proto::model::{TaskSupport, ToolExecution};

/// When a call of a tool becomes a task.
///
/// In revision 2025-11-25 the client decides, within what the tool allows, with the
/// parameter `task` of its call. In 2026-07-28 the server decides, if the client declares
/// the extension `io.modelcontextprotocol/tasks`. Clients of other revisions never get a
/// task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskPolicy {
    /// In revision 2025-11-25, if the client asks for one; in 2026-07-28, whenever the
    /// client can receive one.
    Optional,
    /// Always. Clients that cannot receive one get an error, and so do calls of revision
    /// 2025-11-25 that do not ask for one.
    Required,
    /// If it takes longer than this, the client can receive one, and fewer than
    /// [`max_running`](crate::server::TaskOptions::max_running) tasks run in this process.
    /// Until then, it is a call like any other, and it stays one if its caller has too many
    /// tasks ([`max_per_caller`](crate::server::TaskOptions::max_per_caller)).
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

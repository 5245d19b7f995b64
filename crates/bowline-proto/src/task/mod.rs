//! Tasks: requests whose result is fetched later.
//!
//! The protocol has two sets of messages and rules for them, which are called
//! *dialects* here: the core of one revision, where the sender of a request decides, and the extension
//! [`EXTENSION_ID`](crate::model::task::EXTENSION_ID), where the server does.
//! [`Task`] is the state of a task in either of them. [`Task::to_core_task`] and
//! [`Task::to_get_result`] are what the other side sees of it, and [`TaskInfo`] is what
//! it makes of that. Whether a call becomes a task is for the
//! [server](crate::server::call_mode) to decide; when to ask for a task again, for the
//! client's [`TaskPoller`](crate::client::TaskPoller).

mod dialect;
mod info;
mod state;
mod timestamp;
mod wire;

pub use dialect::Dialect;
pub use info::TaskInfo;
pub use state::{AnswerOutcome, Task, TaskParts, TaskState};
pub use timestamp::Timestamp;

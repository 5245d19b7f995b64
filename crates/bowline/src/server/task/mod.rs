//! Tasks: calls whose result clients fetch later.
//!
//! [`ToolBuilder::task`](super::tool::ToolBuilder::task) lets the calls of a tool become
//! tasks. Its handler needs no change: a task is a conversation that the server resumes
//! itself. It needs no client that stays connected, and with stores that outlive the
//! process ([`store`](super::store)), another node takes it over if its own dies.
//!
//! The protocol has two sets of messages for tasks, its *dialects*: the core of revision
//! 2025-11-25, and the extension `io.modelcontextprotocol/tasks` of 2026-07-28.
//!
//! - [`policy`] says when a call becomes a task, [`options`] how many and how long;
//! - [`record`] is what is stored of a task, [`engine`] stores it;
//! - [`start`] turns a call into a task, [`create`] stores it, [`run`] runs its rounds, [`running`] lists the
//!   runs of this process;
//! - [`takeover`] takes over tasks of nodes that are gone, and
//! - [`methods`] answers the requests about tasks, in both dialects; [`result_waiters`] are those
//!   that wait for a result.

mod channel;
mod create;
mod engine;
mod methods;
mod options;
mod policy;
mod record;
mod result_waiters;
mod run;
mod running;
mod start;
mod takeover;

pub(crate) use channel::TaskChannel;
pub(crate) use engine::TaskEngine;
pub(crate) use methods::TASKS;
pub use options::TaskOptions;
pub use policy::TaskPolicy;
pub(crate) use start::{TaskSetting, TaskableHandler};

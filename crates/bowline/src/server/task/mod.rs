//! Tasks: calls whose result clients fetch later.
//!
//! A tool becomes one with [`ToolBuilder::task`](super::tool::ToolBuilder::task). Its
//! handler is written as ever: a task is a conversation that the server resumes
//! itself. It needs no client that stays connected, and with stores that outlive the
//! process ([`store`](super::store)), another node takes it over if its own dies.
//!
//! - [`policy`] says when a call becomes a task, [`options`] how many and how long;
//! - [`record`] is what is stored of a task, [`engine`] stores it;
//! - [`start`] turns a call into a task, [`run`] runs its rounds;
//! - [`takeover`] takes over tasks of nodes that are gone, and
//! - [`methods`] answers the requests about tasks, in both dialects.

mod channel;
mod engine;
mod methods;
mod options;
mod policy;
mod record;
mod run;
mod start;
mod takeover;

pub(crate) use channel::TaskChannel;
pub(crate) use engine::TaskEngine;
pub(crate) use methods::TASKS;
pub use options::TaskOptions;
pub use policy::TaskPolicy;
pub(crate) use start::{TaskSetting, TaskableHandler};

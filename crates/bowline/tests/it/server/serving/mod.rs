//! How clients are served: at once, to the end, and never beyond it.

mod beyond;
mod notifications;
mod observed;
mod panics;
mod quick;
mod raw;
mod running;

pub(super) use raw::{Raw, connect};

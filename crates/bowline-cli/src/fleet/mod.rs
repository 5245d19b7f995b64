//! Working with many servers at once.
//!
//! `selection` picks the servers, `run` runs something on all of them
//! concurrently, `health` checks one server, `inventory` lists what is
//! configured where, `search` ranks items against a query, `tool_role` finds
//! tools that servers have under different names, and `outcome` decides whether
//! the command succeeded.

mod health;
pub(crate) mod inventory;
mod outcome;
mod run;
mod search;
mod selection;
mod tool_role;

use std::time::Duration;

pub(crate) use self::{
    health::{HealthCheck, is_unsupported, or_empty, round_trip},
    run::{ServerResult, ServerState, run_on_all, run_on_one},
    search::{ItemKind, SearchItem, rank},
    selection::{SelectedServers, select},
    tool_role::{SYNC, call_search_tools, print_result as show_result},
};

/// Default time limit of a tool call on one server.
pub(crate) const TOOL_TIMEOUT: Duration = Duration::from_secs(60);

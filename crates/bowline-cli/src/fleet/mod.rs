//! Many servers at once: which ones are meant, and what becomes of each.
//!
//! `trust` says which servers are used without being named, `visit` goes to
//! all of them together, `checkup` is what is found out about one, `inventory`
//! what is configured where, `rank` how well something fits a query, `errand`
//! finds tools that many servers have under one name or another, and `verdict`
//! says whether it all has worked.

mod health;
pub(crate) mod inventory;
mod outcome;
mod run;
mod search;
mod selection;
mod tool_role;

use std::time::Duration;

pub(crate) use self::{
    health::{HealthCheck, is_unsupported, round_trip},
    run::{ServerResult, ServerState, run_on_all, run_on_one},
    search::{ItemKind, SearchItem, rank},
    selection::{SelectedServers, select},
    tool_role::{SYNC, call_search_tools, print_result as show_result},
};

/// How long an errand at one server may take, unless said otherwise.
pub(crate) const TOOL_TIMEOUT: Duration = Duration::from_secs(60);

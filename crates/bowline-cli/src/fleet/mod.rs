//! Many servers at once: which ones are meant, and what becomes of each.
//!
//! `trust` says which servers are used without being named, `visit` goes to
//! all of them together, `checkup` is what is found out about one, `inventory`
//! what is configured where, `rank` how well something fits a query, `errand`
//! finds tools that many servers have under one name or another, and `verdict`
//! says whether it all has worked.

mod checkup;
mod errand;
pub(crate) mod inventory;
mod rank;
mod trust;
mod verdict;
mod visit;

use std::time::Duration;

pub(crate) use self::{
    checkup::{Checkup, lacks, round_trip},
    errand::{SYNC, own_search, show as show_result},
    rank::{Item, Kind, rank},
    trust::{Choice, choose},
    visit::{State, Visit, visit, visit_one},
};

/// How long an errand at one server may take, unless said otherwise.
pub(crate) const ERRAND: Duration = Duration::from_secs(60);

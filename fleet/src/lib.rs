//! The fleet test: nodes of a server that share a Redis, clients of every revision, and
//! everything that can go wrong between them.
//!
//! `run` starts three nodes, a Redis, a process that writes down effects, and proxies. It
//! kills and pauses nodes, restarts Redis, cuts and delays connections. Its clients repeat
//! their requests, send them twice, and answer old questions differently. Afterwards the
//! [`checker`] judges the log of effects and what the clients were told.
#![cfg(target_os = "linux")]

pub mod checker;
mod client;
pub mod effects;
mod faults;
mod fleet;
pub mod node;
pub mod outcome;
pub mod process;
mod proxy;
mod random;
mod redis;
pub mod run;
pub mod scenario;

pub use self::{faults::FaultPlan, fleet::FleetOptions};

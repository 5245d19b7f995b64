//! The command as people run it: arguments in, output and exit code out.

#[cfg(unix)]
mod auth;
mod call;
mod demo;
mod documents;
mod errands;
mod interaction;
mod limits;
mod locked;
mod peers;
#[cfg(unix)]
mod picture;
mod rig;
mod sessions;
mod snapshots;
mod tasks;
#[cfg(unix)]
mod terminal;
mod traffic;
#[cfg(unix)]
mod trust;
#[cfg(unix)]
mod trust_hostile;
#[cfg(unix)]
mod trust_shown;
mod web;

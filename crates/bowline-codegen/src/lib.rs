//! Typed clients for MCP servers, generated from `bowline.lock`.
//!
//! [`rust`] and [`typescript`] make a module for each server, with a function for each
//! tool, prompt and resource; [`docs`] makes a page for each server. The same text comes out of `bowline gen`, for files that are checked in,
//! and of [`Builder`], for build scripts; neither needs the network, because the lock
//! has what the servers offer. Output depends on the lock alone.

mod build_script;
mod describe;
pub mod docs;
mod error;
mod names;
pub mod rust;
pub mod typescript;

pub use self::{build_script::Builder, error::GenerateError};

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GeneratedFile {
    /// Its path, relative to the output folder, with `/` between folders.
    pub path: String,
    /// Its text.
    pub contents: String,
}

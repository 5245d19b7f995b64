//! Servers and clients over HTTP.
//!
//! - `serve <ours|rmcp|rmcp-tuned|limit>` serves on a free port of the loopback
//!   interface, prints the address, and ends when its standard input closes.
//! - `call <ours|rmcp|rmcp-tuned|limit> --url U --calls N --width W
//!   [--no-warmup]` makes calls, and prints what they took.

mod call;
mod canned;
mod limit_client;
mod limit_server;
mod ours_client;
mod ours_server;
mod rmcp_client;
mod rmcp_server;
mod serve;

use crate::Failure;

/// Where the protocol is spoken, on all servers.
const PATH: &str = "/mcp";

/// What is said there and back: 100 bytes.
const TEXT: &str = "0123456789012345678901234567890123456789012345678901234567890123456789\
                    012345678901234567890123456789";

/// Runs what the arguments name.
pub(crate) fn main(arguments: &[&str]) -> Result<(), Failure> {
    match arguments {
        ["serve", who] => serve::run(Who::of(who)?),
        ["call", who, rest @ ..] => call::run(Who::of(who)?, rest),
        _ => Err(format!("nothing is called {arguments:?}")),
    }
}

/// Whose program it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Ours,
    Rmcp,
    RmcpTuned,
    Limit,
}

impl Who {
    fn of(name: &str) -> Result<Self, Failure> {
        match name {
            "ours" => Ok(Self::Ours),
            "rmcp" => Ok(Self::Rmcp),
            "rmcp-tuned" => Ok(Self::RmcpTuned),
            "limit" => Ok(Self::Limit),
            _ => Err(format!("nobody is called {name:?}")),
        }
    }
}

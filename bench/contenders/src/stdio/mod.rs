//! Servers and clients over standard streams.
//!
//! `stdio serve <name> [--bytes N]` is a server with the tool `echo`.
//! `stdio call <name> --server <name> …` starts one and measures calls to it;
//! see [`arguments`] for what it takes.

mod arguments;
mod client;
mod lines;
mod load;
mod measure;
mod pipes;
mod server;
mod start;
mod tasks;
mod wire;

use crate::Failure;

/// Runs what the arguments name.
pub(crate) fn main(arguments: &[&str]) -> Result<(), Failure> {
    match arguments.split_first() {
        Some((&"serve", rest)) => {
            let (name, bytes) = arguments::serving(rest)?;
            server::serve(name, bytes)
        }
        Some((&"call", rest)) => {
            let plan = arguments::Plan::read(rest)?;
            println!("{}", measure::measure(&plan)?);
            Ok(())
        }
        _ => Err("`serve <name>` or `call <name> --server <name> …` is wanted".to_owned()),
    }
}

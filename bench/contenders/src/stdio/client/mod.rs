//! The clients: all start the server as their child.

mod bare;
mod limit;
mod limit_blocking;
mod ours;
mod pipelined;
mod rmcp;
mod rmcp_tuned;

use super::{
    arguments::Plan,
    load::Client,
    start::Start,
    tasks::{Tasks, many_threads, one_thread},
};
use crate::Failure;
use pipelined::Pipelined;

/// Starts the server and connects to it.
pub(crate) fn connect(plan: &Plan, start: &Start) -> Result<Box<dyn Client>, Failure> {
    let era = plan.era;
    Ok(match &*plan.client {
        "ours" => Box::new(Tasks::connect(many_threads()?, ours::connect(start, era))?),
        "ours-one-thread" => {
            let connecting = ours::connect(start, era);
            Box::new(Tasks::connect(one_thread()?, connecting)?)
        }
        "rmcp" => Box::new(Tasks::connect(many_threads()?, rmcp::connect(start, era))?),
        "rmcp-tuned" => {
            let connecting = rmcp_tuned::connect(start, era);
            Box::new(Tasks::connect(one_thread()?, connecting)?)
        }
        "limit" => Box::new(Tasks::connect(one_thread()?, limit::connect(start, era))?),
        "limit-blocking" => {
            let words = limit_blocking::Typed::new(era);
            Box::new(Pipelined::connect(words, plan, start)?)
        }
        "bare" => {
            let words = bare::Bare::new(plan);
            Box::new(Pipelined::connect(words, plan, start)?)
        }
        other => return Err(format!("there is no client {other:?}")),
    })
}

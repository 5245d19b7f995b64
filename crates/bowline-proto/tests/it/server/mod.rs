//! Tests of `bowline_proto::server`.

mod admission;
mod asking;
mod cancellation;
mod changes;
mod dialogue;
mod encoding;
mod frames;
mod kept;
mod logging;
mod opening;
mod progress;
mod properties;
mod requests;
mod rig;
mod shutdown;

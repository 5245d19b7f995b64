//! Tests of `bowline_proto::jsonrpc`.

mod allocations;
mod batch;
mod decode;
mod encode;
mod envelope;
mod frame;
mod salvage;
mod text;
mod write;

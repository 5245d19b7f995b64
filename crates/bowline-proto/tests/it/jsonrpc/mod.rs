//! Tests of `bowline_proto::jsonrpc`.

mod allocations;
mod batch;
mod decode;
mod decode_plain;
mod encode;
mod envelope;
mod frame;
mod salvage;
mod text;
mod write;

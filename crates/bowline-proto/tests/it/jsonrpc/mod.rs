//! Tests of `bowline_proto::jsonrpc`.

mod batch;
mod decode;
mod envelope;
mod salvage;
mod text;

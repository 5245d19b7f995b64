//! Tests of `bowline_proto::jsonrpc`.

mod decode;

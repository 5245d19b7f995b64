//! Tests of `bowline_proto::jsonrpc`.

//! Tests of `bowline_proto::client`.

//! Tests of `bowline_proto::server`.

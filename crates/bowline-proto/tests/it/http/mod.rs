//! Tests of `bowline_proto::http`.

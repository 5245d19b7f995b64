//! Tests of `bowline_proto::model`.

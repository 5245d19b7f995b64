//! Tests of `bowline_proto::model`.

mod content;
mod lists;

//! Tests of `bowline_proto::http`.

mod header;
mod schema;
mod sse;

//! Tests of `bowline_proto::http`.

mod header;
mod resume;
mod schema;
mod sse;

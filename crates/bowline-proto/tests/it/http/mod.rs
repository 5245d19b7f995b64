//! Tests of `bowline_proto::http`.

mod header;
mod mutation;
mod resume;
mod schema;
mod sse;
mod traps;

//! Tests of `bowline_proto::client`.

mod rig;

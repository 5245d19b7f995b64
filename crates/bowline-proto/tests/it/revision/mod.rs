//! Tests of `bowline_proto::revision`.

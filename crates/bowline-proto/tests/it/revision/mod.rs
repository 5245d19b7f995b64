//! Tests of `bowline_proto::revision`.

mod negotiation;
mod rules;

//! Tests of the crate from the outside.

mod suite;

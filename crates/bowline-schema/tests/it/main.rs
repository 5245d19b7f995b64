//! Tests of the crate from the outside.

mod compare;
mod suite;

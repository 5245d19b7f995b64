//! Tests of the crate from the outside.

mod shape;
mod suite;
mod typescript;

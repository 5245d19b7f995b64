//! Tests of the crate from the outside.

mod compare;
mod random_shapes;
mod shape;
mod suite;
mod typescript;

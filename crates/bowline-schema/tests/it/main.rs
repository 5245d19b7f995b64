//! Tests of the crate from the outside.

mod compare;
mod observe;
mod peers;
mod random_shapes;
mod shape;
mod suite;

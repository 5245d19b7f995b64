//! Generated clients, compiled: every valid value decodes and encodes to itself.

#![deny(warnings)]

#[cfg(test)]
mod random;
#[cfg(test)]
mod random_value;
#[cfg(test)]
mod round_trip;

include!(concat!(env!("OUT_DIR"), "/random_schemas.rs"));

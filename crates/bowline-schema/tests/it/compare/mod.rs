//! Tests of the comparison of schemas.

mod declared;
mod hostile;
mod identity;
mod random;
mod samples;
mod soundness;
mod table;

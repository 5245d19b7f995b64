//! Tests of the generators from the outside.

mod docs;
mod fixture;
mod golden;
mod peers;
mod rust;
mod typescript;

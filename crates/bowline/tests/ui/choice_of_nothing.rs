//! A choice without variants.

use bowline::server::form::Elicit;

#[derive(Elicit)]
enum Seat {}

fn main() {}

//! A struct without braces.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Sure;

fn main() {}

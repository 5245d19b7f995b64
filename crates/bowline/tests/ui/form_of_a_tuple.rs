//! Fields without names.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Pair(String, u8);

fn main() {}

//! Lists in a form hold choices only.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Guests {
    names: Vec<String>,
}

fn main() {}

//! Two fields with one name on the wire.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Names {
    first: String,
    #[elicit(rename = "first")]
    last: String,
}

fn main() {}

//! A format that the protocol does not have.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Contact {
    #[elicit(format = "phone")]
    phone: String,
}

fn main() {}

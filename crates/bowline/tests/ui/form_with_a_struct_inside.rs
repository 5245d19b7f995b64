//! A struct cannot stand in a form.

use bowline::server::form::Elicit;

struct Address {
    street: String,
}

#[derive(Elicit)]
struct Delivery {
    name: String,
    address: Address,
}

fn main() {}

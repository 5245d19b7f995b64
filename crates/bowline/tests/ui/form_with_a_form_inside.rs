//! Not even a struct that is a form itself.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Address {
    street: String,
}

#[derive(Elicit)]
struct Delivery {
    name: String,
    address: Option<Address>,
}

fn main() {}

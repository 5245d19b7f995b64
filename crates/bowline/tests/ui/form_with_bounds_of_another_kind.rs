//! Bounds that do not fit the type that is written there.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Booking {
    #[elicit(min = 1)]
    name: String,
    #[elicit(min_length = 1)]
    bags: Option<u8>,
    #[elicit(format = "email")]
    sure: bool,
    #[elicit(max_items = 3)]
    note: String,
}

fn main() {}

//! A least value above the greatest.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Booking {
    #[elicit(min = 9, max = 1)]
    bags: u8,
    #[elicit(min_length = 9, max_length = 1)]
    name: String,
}

fn main() {}

//! Defaults that nobody could leave as they are.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Booking {
    #[elicit(max = 9, default = 10)]
    bags: u8,
    #[elicit(min = -1, default = -1.5)]
    shift: f64,
    #[elicit(min_length = 3, default = "no")]
    name: String,
    #[elicit(default = "yes")]
    sure: bool,
    #[elicit(default = 1.5)]
    nights: u32,
}

fn main() {}

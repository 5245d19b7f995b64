//! Bounds and defaults are values of the field's own type.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Booking {
    #[elicit(max = 300)]
    bags: u8,
    #[elicit(default = 70_000)]
    coats: Option<u16>,
}

fn main() {}

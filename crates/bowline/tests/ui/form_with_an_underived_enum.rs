//! An enum in a form needs the derive.

use bowline::server::form::Elicit;

enum Seat {
    Window,
    Aisle,
}

#[derive(Elicit)]
struct Booking {
    seat: Seat,
    spare: Option<Seat>,
}

fn main() {}

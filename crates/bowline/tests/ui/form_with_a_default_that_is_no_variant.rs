//! The default of a choice is one of its variants.

use bowline::server::form::Elicit;

#[derive(Elicit)]
enum Seat {
    Window,
    Aisle,
}

#[derive(Elicit)]
struct Booking {
    #[elicit(default = Seat::Widow)]
    seat: Seat,
    #[elicit(default = [Seat::Aisle, 5])]
    spare: Vec<Seat>,
}

fn main() {}

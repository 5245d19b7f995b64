//! Bounds that do not fit, where only the compiler can see the type.

use bowline::server::form::Elicit;

type Name = String;
type Bags = u8;

#[derive(Elicit)]
enum Seat {
    Window,
    Aisle,
}

#[derive(Elicit)]
struct Booking {
    #[elicit(min = 1)]
    name: Name,
    #[elicit(max_length = 9)]
    bags: Bags,
    #[elicit(max_items = 2)]
    seat: Seat,
    #[elicit(default = "Aisle")]
    spare: Seat,
}

fn main() {}

//! Attributes that do not exist where they stand.

use bowline::server::form::Elicit;

#[derive(Elicit)]
#[elicit(name = "booking")]
struct Booking {
    #[elicit(minimum = 1)]
    bags: u8,
    #[elicit(title = "Name", title = "Your name")]
    name: String,
    #[elicit(title)]
    note: String,
    #[elicit(title = 5, max_length = "5")]
    more: String,
    seat: Seat,
}

#[derive(Elicit)]
#[elicit(rename_all = "Title Case")]
enum Seat {
    #[elicit(min = 1)]
    Window,
}

fn main() {}

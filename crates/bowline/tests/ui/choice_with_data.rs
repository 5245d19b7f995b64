//! A choice whose variants carry data.

use bowline::server::form::Elicit;

#[derive(Elicit)]
enum Seat {
    Window,
    Other(String),
    Row { number: u8 },
}

fn main() {}

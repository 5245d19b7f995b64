//! Two variants with one value.

use bowline::server::form::Elicit;

#[derive(Elicit)]
#[elicit(rename_all = "lowercase")]
enum Seat {
    Window,
    #[elicit(rename = "window")]
    Aisle,
}

fn main() {}

//! A choice is not a form.

use bowline::server::form::Elicit;

#[derive(Elicit)]
enum Seat {
    Window,
    Aisle,
}

fn ask<T: Elicit>() {}

fn demand() {
    ask::<Seat>();
    ask::<String>();
}

fn main() {}

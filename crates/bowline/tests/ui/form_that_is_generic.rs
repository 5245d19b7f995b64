//! A form with a type parameter.

use bowline::server::form::Elicit;

#[derive(Elicit)]
struct Choose<T> {
    value: T,
}

fn main() {}

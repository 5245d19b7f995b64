//! The server that the suite examines.
fn main() {}

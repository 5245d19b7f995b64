//! Shorter ways to write what `bowline::server` has: nothing here can do what
//! the functions there cannot.

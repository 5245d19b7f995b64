//! The client side of a connection, as a state machine.

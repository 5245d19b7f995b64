//! The server side of a connection, as a state machine.

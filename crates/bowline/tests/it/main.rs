//! The integration tests of the facade: one binary, one module per room.

mod config;

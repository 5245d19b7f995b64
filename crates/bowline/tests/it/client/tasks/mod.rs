//! Calls that become tasks, as the client sees them.

mod changes;
mod handles;
mod hostile;
mod own_server;

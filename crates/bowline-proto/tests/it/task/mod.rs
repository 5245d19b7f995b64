//! Tasks: their states, who may have one, and what the other side sees.

mod call_mode;
mod properties;
mod wire;

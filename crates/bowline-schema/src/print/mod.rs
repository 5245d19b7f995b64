//! Printers: shapes as text for people, models and compilers.

pub mod rust;
pub mod words;

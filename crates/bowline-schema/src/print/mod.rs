//! Printers: shapes as text for people, models and compilers.

mod facts;
mod hidden;
pub mod markdown;
pub mod rust;
pub mod signature;
pub mod typescript;
mod value;
pub mod words;

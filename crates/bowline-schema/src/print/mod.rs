//! Shapes as text.

mod facts;
mod hidden;
pub mod markdown;
pub mod typescript;
mod value;

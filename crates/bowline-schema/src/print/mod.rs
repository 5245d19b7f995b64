//! Types as text.

pub mod signature;

//! The application's state, with its type erased.
//!
//! Handlers know the type; the server does not. So a server is compiled once,
//! and not again in every program for its state type.

use std::{any::Any, sync::Arc};

/// The application's state, with its type erased.
pub(crate) type AnyState = Arc<dyn Any + Send + Sync>;

/// Returns the state as its type.
///
/// # Panics
///
/// Panics if the type is another. A server only accepts items made for its own
/// state type, or for any.
pub(crate) fn downcast<S: 'static>(state: &AnyState) -> &S {
    // An item without a state works with any.
    let none: &'static (dyn Any + Send + Sync) = &();
    let state = state.downcast_ref().or_else(|| none.downcast_ref());
    state.expect("what a server offers is made for its state")
}

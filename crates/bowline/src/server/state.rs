//! The application's state, whatever its type is.
//!
//! What authors write knows the type; what serves it does not. So a server is
//! compiled once, and not once more in every program for the program's state.

use std::{any::Any, sync::Arc};

/// A state, without its type.
pub(crate) type AnyState = Arc<dyn Any + Send + Sync>;

/// The state as what it is.
///
/// # Panics
///
/// Where it is something else. A server takes in nothing that is made for
/// another state than its own, or for any.
pub(crate) fn downcast<S: 'static>(state: &AnyState) -> &S {
    // What does without a state, does without any.
    let none: &'static (dyn Any + Send + Sync) = &();
    let state = state.downcast_ref().or_else(|| none.downcast_ref());
    state.expect("what a server offers is made for its state")
}

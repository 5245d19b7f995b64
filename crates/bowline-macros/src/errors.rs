//! Faults in what the user wrote, gathered so that all are shown at once.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};

/// The faults so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Notes a fault at a place.
    pub(crate) fn push(&mut self, at: Span, message: impl Display) {
        self.combine(syn::Error::new(at, message));
    }

    /// Notes a fault of some tokens.
    pub(crate) fn push_spanned(&mut self, tokens: &TokenStream, message: impl Display) {
        self.combine(syn::Error::new_spanned(tokens, message));
    }

    /// Notes a fault that is already in words.
    pub(crate) fn combine(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The value, or the fault that takes its place.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.combine(error)).ok()
    }

    /// Ends with all faults, if there are any.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

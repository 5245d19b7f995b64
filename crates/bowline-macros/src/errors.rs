//! Errors in the user's code, collected to report all of them at once.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};

/// The collected errors.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds an error at a span.
    pub(crate) fn push(&mut self, at: Span, message: impl Display) {
        self.combine(syn::Error::new(at, message));
    }

    /// Adds an error for some tokens.
    pub(crate) fn push_spanned(&mut self, tokens: &TokenStream, message: impl Display) {
        self.combine(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an error.
    pub(crate) fn combine(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the value, or adds the error.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.combine(error)).ok()
    }

    /// Returns all errors, if there are any.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

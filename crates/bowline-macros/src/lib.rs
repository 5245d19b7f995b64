//! The macros of `bowline::server`: shorthands that do nothing the functions
//! there cannot.
//!
//! Use them through the crate `bowline`, where they are documented.

mod attributes;
mod case;
mod docs;
mod elicit;
mod errors;
mod tool;

use proc_macro::TokenStream;

/// Derives a form from a struct with named fields, and a choice from an enum
/// with unit variants. Documented at `bowline::server::form`.
#[proc_macro_derive(Elicit, attributes(elicit))]
pub fn derive_elicit(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    elicit::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Defines a tool from an async function. Documented at
/// `bowline::server::tool`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), &function.into()).into()
}

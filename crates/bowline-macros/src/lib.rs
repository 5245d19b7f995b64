//! Shorter ways to write what `bowline::server` has: nothing here can do what
//! the functions there cannot.
//!
//! Use these through the crate `bowline`, where they are documented.

mod attributes;
mod case;
mod docs;
mod elicit;
mod errors;
mod tool;

use proc_macro::TokenStream;

/// Makes a form of a struct with named fields, and a choice of an enum with
/// unit variants. Documented at `bowline::server::form`.
#[proc_macro_derive(Elicit, attributes(elicit))]
pub fn derive_elicit(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    elicit::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Makes a tool of an async function. Documented at `bowline::server::tool`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), &function.into()).into()
}

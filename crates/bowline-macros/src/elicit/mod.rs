//! `#[derive(Elicit)]`: forms from structs, choices from enums.

mod choice;
mod form;
mod kind;
mod limits;
mod names;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, Path, spanned::Spanned as _};

use crate::{attributes::Settings, case::Case, errors::Errors};

/// Expands the derive for a type.
pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(syn::Error::new(
            input.generics.params.span(),
            "a form cannot be generic: define one form for each concrete type",
        ));
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => form::derive(input, fields),
            Fields::Unnamed(fields) => Err(syn::Error::new(
                fields.span(),
                "the fields of a form must be named: `struct Name { first: …, second: … }`",
            )),
            Fields::Unit => Err(syn::Error::new(
                input.ident.span(),
                format!(
                    "a unit struct cannot be a form: write `struct {0} {{ … }}`, or \
                     `struct {0} {{}}` to ask for consent only",
                    input.ident
                ),
            )),
        },
        Data::Enum(data) => choice::derive(input, data),
        Data::Union(_) => Err(syn::Error::new(
            input.ident.span(),
            "`Elicit` can only be derived for a struct with named fields or an enum with unit \
             variants",
        )),
    }
}

/// The settings of a type.
struct Container {
    /// The path of `bowline::server::form`.
    form_path: TokenStream,
    rename_all: Option<Case>,
    settings: Settings,
}

impl Container {
    fn read(input: &DeriveInput, subject: &str, known: &[&str], errors: &mut Errors) -> Self {
        let settings = Settings::read(&input.attrs, subject, known, errors);
        let root = settings
            .string("crate", errors)
            .and_then(|literal| errors.ok(literal.parse::<Path>()));
        let form_path = match root {
            Some(root) => quote!(#root::server::form),
            None => quote!(::bowline::server::form),
        };
        let rename_all = settings.string("rename_all", errors).and_then(|literal| {
            let case = Case::from_name(&literal.value());
            if case.is_none() {
                let names: Vec<&str> = Case::names().collect();
                let message = format!(
                    "unknown case `{}` for `rename_all`; expected one of {}",
                    literal.value(),
                    crate::attributes::join_names(&names)
                );
                errors.push(literal.span(), message);
            }
            case
        });
        Self {
            form_path,
            rename_all,
            settings,
        }
    }
}

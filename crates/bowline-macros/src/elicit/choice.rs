//! Choices: enums with unit variants.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Fields, Ident, spanned::Spanned as _};

use super::{Container, names::WireNames};
use crate::{attributes::Settings, docs, errors::Errors};

const CONTAINER: &[&str] = &["rename_all", "crate"];
const VARIANT: &[&str] = &["title", "rename"];

/// One value of the choice.
struct ChoiceVariant<'a> {
    ident: &'a Ident,
    wire_name: String,
    title: Option<String>,
}

pub(super) fn derive(input: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let container = Container::read(input, "a choice", CONTAINER, &mut errors);
    if data.variants.is_empty() {
        errors.push(input.ident.span(), "a choice needs at least one variant");
    }
    let values = values(data, &container, &mut errors);
    errors.finish()?;

    let form = &container.form_path;
    let name = &input.ident;
    let choices = choices(form, &values);
    let idents: Vec<&Ident> = values.iter().map(|value| value.ident).collect();
    let wire_names: Vec<&str> = values
        .iter()
        .map(|value| value.wire_name.as_str())
        .collect();
    Ok(quote! {
        #[automatically_derived]
        impl #form::Choice for #name {
            fn choices() -> #form::ChoiceSchema {
                #choices
            }

            fn as_wire(&self) -> &'static str {
                match self {
                    #( Self::#idents => #wire_names, )*
                }
            }

            fn from_wire(wire: &str) -> ::core::option::Option<Self> {
                match wire {
                    #( #wire_names => ::core::option::Option::Some(Self::#idents), )*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #[automatically_derived]
        impl #form::Field for #name {
            type Value = Self;

            fn schema() -> #form::PropertySchema {
                ::core::convert::Into::into(<Self as #form::Choice>::choices())
            }

            fn read(value: &#form::Value) -> ::core::result::Result<Self, #form::DecodeError> {
                #form::read_choice(value)
            }

            fn from_default(default: Self) -> Self {
                default
            }

            fn to_json(value: Self) -> #form::Value {
                ::core::convert::Into::into(#form::Choice::as_wire(&value))
            }
        }
    })
}

fn values<'a>(
    data: &'a DataEnum,
    container: &Container,
    errors: &mut Errors,
) -> Vec<ChoiceVariant<'a>> {
    let mut names = WireNames::new("variants");
    let mut values = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let message = format!(
                "a choice variant cannot have data: write `{}`, and ask for the rest in another \
                 field of the form or in a second question",
                variant.ident
            );
            errors.push(variant.fields.span(), message);
        }
        let settings = Settings::read(&variant.attrs, "a variant", VARIANT, errors);
        let rename = settings.string("rename", errors);
        let title = settings.string("title", errors).map(|title| title.value());
        values.push(ChoiceVariant {
            ident: &variant.ident,
            wire_name: names.add(
                &variant.ident,
                rename.as_ref(),
                container.rename_all,
                errors,
            ),
            title: title.or_else(|| docs::title(&variant.attrs)),
        });
    }
    values
}

/// Uses titles as soon as one value has one; the others show their value.
fn choices(form: &TokenStream, values: &[ChoiceVariant<'_>]) -> TokenStream {
    let wire_names = values.iter().map(|value| &value.wire_name);
    if values.iter().all(|value| value.title.is_none()) {
        return quote!(#form::ChoiceSchema::untitled([ #( #wire_names ),* ]));
    }
    let titles = values
        .iter()
        .map(|value| value.title.as_ref().unwrap_or(&value.wire_name));
    quote! {
        #form::ChoiceSchema::titled([ #( #form::ChoiceOption::new(#wire_names, #titles) ),* ])
    }
}

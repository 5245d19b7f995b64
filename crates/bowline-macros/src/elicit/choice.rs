//! Enums with unit variants: choices.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Fields, Ident, spanned::Spanned as _};

use super::{Container, names::Names};
use crate::{attributes::Settings, docs, errors::Errors};

const CONTAINER: &[&str] = &["rename_all", "crate"];
const VARIANT: &[&str] = &["title", "rename"];

/// One value of the choice.
struct Value<'a> {
    ident: &'a Ident,
    wire: String,
    title: Option<String>,
}

pub(super) fn derive(input: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let container = Container::read(input, "a choice", CONTAINER, &mut errors);
    if data.variants.is_empty() {
        errors.push(
            input.ident.span(),
            "a choice needs something to choose from: at least one variant",
        );
    }
    let values = values(data, &container, &mut errors);
    errors.finish()?;

    let form = &container.form;
    let name = &input.ident;
    let choices = choices(form, &values);
    let idents: Vec<&Ident> = values.iter().map(|value| value.ident).collect();
    let wires: Vec<&str> = values.iter().map(|value| value.wire.as_str()).collect();
    Ok(quote! {
        #[automatically_derived]
        impl #form::Choice for #name {
            fn choices() -> #form::ChoiceSchema {
                #choices
            }

            fn as_wire(&self) -> &'static str {
                match self {
                    #( Self::#idents => #wires, )*
                }
            }

            fn from_wire(wire: &str) -> ::core::option::Option<Self> {
                match wire {
                    #( #wires => ::core::option::Option::Some(Self::#idents), )*
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

fn values<'a>(data: &'a DataEnum, container: &Container, errors: &mut Errors) -> Vec<Value<'a>> {
    let mut names = Names::new("variants");
    let mut values = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let message = format!(
                "a choice carries no data: make it `{}` alone, and ask for the rest in a field \
                 of the form or in a second question",
                variant.ident
            );
            errors.push(variant.fields.span(), message);
        }
        let settings = Settings::read(&variant.attrs, "a variant", VARIANT, errors);
        let rename = settings.text("rename", errors);
        let title = settings.text("title", errors).map(|title| title.value());
        values.push(Value {
            ident: &variant.ident,
            wire: names.add(
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

/// With names for people as soon as one value has one; the others show their
/// value.
fn choices(form: &TokenStream, values: &[Value<'_>]) -> TokenStream {
    let wires = values.iter().map(|value| &value.wire);
    if values.iter().all(|value| value.title.is_none()) {
        return quote!(#form::ChoiceSchema::bare([ #( #wires ),* ]));
    }
    let titles = values
        .iter()
        .map(|value| value.title.as_ref().unwrap_or(&value.wire));
    quote! {
        #form::ChoiceSchema::titled([ #( #form::ChoiceOption::new(#wires, #titles) ),* ])
    }
}

//! Structs with named fields: forms.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{DeriveInput, FieldsNamed, Ident, LitFloat, LitStr, Type, spanned::Spanned as _};

use super::{
    Container,
    kind::Kind,
    limits::{self, Literal},
    names::Names,
};
use crate::{
    attributes::{Setting, Settings, in_words},
    docs,
    errors::Errors,
};

const CONTAINER: &[&str] = &["key", "rename_all", "crate"];
const FIELD: &[&str] = &[
    "title",
    "rename",
    "default",
    "min",
    "max",
    "min_length",
    "max_length",
    "format",
    "min_items",
    "max_items",
];
const FORMATS: &[(&str, &str)] = &[
    ("email", "Email"),
    ("uri", "Uri"),
    ("date", "Date"),
    ("date-time", "DateTime"),
];

/// One field of the form.
struct Field<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    wire: String,
    /// Calls that describe it.
    described: TokenStream,
    default: Option<TokenStream>,
}

pub(super) fn derive(input: &DeriveInput, fields: &FieldsNamed) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let container = Container::read(input, "a form", CONTAINER, &mut errors);
    let mut names = Names::new("fields");
    let fields: Vec<Field<'_>> = fields
        .named
        .iter()
        .filter_map(|field| read(field, &container, &mut names, &mut errors))
        .collect();
    let key = container.settings.text("key", &mut errors);
    errors.finish()?;

    let form = &container.form;
    let name = &input.ident;
    let key = key.map(|key| {
        quote! {
            const KEY: ::core::option::Option<&'static str> = ::core::option::Option::Some(#key);
        }
    });
    let added = fields.iter().map(|field| add(form, field));
    let read = fields.iter().map(|field| read_back(form, field));
    Ok(quote! {
        #[automatically_derived]
        impl #form::Elicit for #name {
            #key

            fn form() -> #form::ElicitSchema {
                #form::Form::new() #( #added )* .into_schema()
            }

            fn from_answer(
                answer: &#form::Value,
            ) -> ::core::result::Result<Self, #form::DecodeError> {
                let _answer = #form::Answer::of(answer)?;
                ::core::result::Result::Ok(Self { #( #read )* })
            }
        }
    })
}

fn read<'a>(
    field: &'a syn::Field,
    container: &Container,
    names: &mut Names,
    errors: &mut Errors,
) -> Option<Field<'a>> {
    let ident = field.ident.as_ref()?;
    let settings = Settings::read(&field.attrs, "a field", FIELD, errors);
    let kind = Kind::of(&field.ty);
    limits::check(&settings, kind, errors);
    let rename = settings.text("rename", errors);
    let default = settings
        .get("default")
        .map(|default| value(&container.form, default, &field.ty, kind));
    Some(Field {
        ident,
        ty: &field.ty,
        wire: names.add(ident, rename.as_ref(), container.rename_all, errors),
        described: describe(field, &settings, container, errors),
        default,
    })
}

/// The calls that say what the attributes and the doc comment say.
fn describe(
    field: &syn::Field,
    settings: &Settings,
    container: &Container,
    errors: &mut Errors,
) -> TokenStream {
    let form = &container.form;
    let kind = Kind::of(&field.ty);
    let mut calls = TokenStream::new();
    let mut call = |name: &str, at: Span, value: TokenStream| {
        let method = Ident::new(name, at);
        calls.extend(quote_spanned!(at=> let field = field.#method(#value);));
    };
    if let Some(title) = settings.text("title", errors) {
        call("title", title.span(), title.to_token_stream());
    }
    if let Some(text) = docs::text(&field.attrs) {
        call("description", field.span(), text.to_token_stream());
    }
    for name in ["min", "max"] {
        if let Some(setting) = settings.get(name) {
            let value = value(form, setting, &field.ty, kind);
            call(name, setting.name.span(), value);
        }
    }
    for name in ["min_length", "max_length", "min_items", "max_items"] {
        if let (Some(count), Some(setting)) = (settings.count(name, errors), settings.get(name)) {
            call(name, setting.name.span(), count.to_token_stream());
        }
    }
    if let (Some(text), Some(setting)) = (settings.text("format", errors), settings.get("format"))
        && let Some(format) = format(&text, errors)
    {
        call(
            "format",
            setting.name.span(),
            quote!(#form::StringFormat::#format),
        );
    }
    if let Some(setting) = settings.get("default") {
        let value = value(form, setting, &field.ty, kind);
        call("default", setting.name.span(), value);
    }
    calls
}

fn format(text: &LitStr, errors: &mut Errors) -> Option<Ident> {
    let name = text.value();
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    if found.is_none() {
        let known: Vec<&str> = FORMATS.iter().map(|(known, _)| *known).collect();
        let message = format!(
            "there is no format `{name}`; there are {}",
            in_words(&known)
        );
        errors.push(text.span(), message);
    }
    found.map(|(_, variant)| Ident::new(variant, text.span()))
}

/// A bound or default as a value of the field's own type.
fn value(form: &TokenStream, setting: &Setting, ty: &Type, kind: Kind) -> TokenStream {
    let value = &setting.value;
    match Literal::read(value) {
        Some(Literal::Text(text)) => {
            let ty = moved(ty.to_token_stream(), text.span());
            let form = moved(form.clone(), text.span());
            quote_spanned!(text.span()=> #form::text::<#ty>(#text))
        }
        // A whole number is a number, though not to the compiler.
        Some(Literal::Integer { negative, digits })
            if kind == Kind::Float && digits.suffix().is_empty() =>
        {
            let minus = negative.then(|| quote!(-));
            let float = LitFloat::new(&format!("{}.0", digits.base10_digits()), digits.span());
            quote!(#minus #float)
        }
        _ if is_array(value) => quote!(::std::vec::Vec::from(#value)),
        _ => value.clone(),
    }
}

fn is_array(value: &TokenStream) -> bool {
    let mut trees = value.clone().into_iter();
    let first = trees.next();
    let bracket = proc_macro2::Delimiter::Bracket;
    trees.next().is_none()
        && matches!(first, Some(TokenTree::Group(group)) if group.delimiter() == bracket)
}

/// The type is named in a qualified path here and below: what the compiler then
/// says of a type that cannot be a field is the same twice, so it says it once.
fn add(form: &TokenStream, field: &Field<'_>) -> TokenStream {
    let Field {
        ty,
        wire,
        described,
        ..
    } = field;
    quote! {
        .add(#wire, {
            let field = <#ty as #form::Field>::spec();
            #described
            field
        })
    }
}

fn read_back(form: &TokenStream, field: &Field<'_>) -> TokenStream {
    let Field {
        ident, ty, wire, ..
    } = field;
    let read = match &field.default {
        Some(default) => {
            quote!(<#ty as #form::Field>::read_from_or(&_answer, #wire, || #default)?)
        }
        None => quote!(<#ty as #form::Field>::read_from(&_answer, #wire)?),
    };
    quote!(#ident: #read,)
}

/// The tokens, as if they stood somewhere else.
fn moved(tokens: TokenStream, to: Span) -> TokenStream {
    let each = |tree: TokenTree| match tree {
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), moved(group.stream(), to));
            inside.set_span(to);
            TokenTree::Group(inside)
        }
        mut other => {
            other.set_span(to);
            other
        }
    };
    tokens.into_iter().map(each).collect()
}

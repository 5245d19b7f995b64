//! Forms: structs with named fields.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{DeriveInput, FieldsNamed, Ident, LitFloat, LitStr, Type, spanned::Spanned as _};

use super::{
    Container,
    kind::FieldKind,
    limits::{self, Literal},
    names::WireNames,
};
use crate::{
    attributes::{Setting, Settings, join_names},
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
    wire_name: String,
    /// Builder calls that describe it.
    description_calls: TokenStream,
    default: Option<TokenStream>,
}

pub(super) fn derive(input: &DeriveInput, fields: &FieldsNamed) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let container = Container::read(input, "a form", CONTAINER, &mut errors);
    let mut names = WireNames::new("fields");
    let fields: Vec<Field<'_>> = fields
        .named
        .iter()
        .filter_map(|field| parse_field(field, &container, &mut names, &mut errors))
        .collect();
    let key = container.settings.string("key", &mut errors);
    errors.finish()?;

    let form = &container.form_path;
    let name = &input.ident;
    let key = key.map(|key| {
        quote! {
            const KEY: ::core::option::Option<&'static str> = ::core::option::Option::Some(#key);
        }
    });
    let add_calls = fields.iter().map(|field| add_field_call(form, field));
    let read = fields.iter().map(|field| read_field_expr(form, field));
    Ok(quote! {
        #[automatically_derived]
        impl #form::Elicit for #name {
            #key

            fn form() -> #form::ElicitSchema {
                #form::FormBuilder::new() #( #add_calls )* .into_schema()
            }

            fn check_answer(
                answer: &#form::Value,
            ) -> ::core::result::Result<(), #form::DecodeError> {
                static CHECK: ::std::sync::OnceLock<#form::AnswerCheck> =
                    ::std::sync::OnceLock::new();
                let check = CHECK.get_or_init(|| {
                    #form::AnswerCheck::new(&<Self as #form::Elicit>::form())
                });
                check.check(answer)
            }

            fn from_answer(
                answer: &#form::Value,
            ) -> ::core::result::Result<Self, #form::DecodeError> {
                let _answer = #form::FormAnswer::new(answer)?;
                ::core::result::Result::Ok(Self { #( #read )* })
            }
        }
    })
}

fn parse_field<'a>(
    field: &'a syn::Field,
    container: &Container,
    names: &mut WireNames,
    errors: &mut Errors,
) -> Option<Field<'a>> {
    let ident = field.ident.as_ref()?;
    let settings = Settings::read(&field.attrs, "a field", FIELD, errors);
    let kind = FieldKind::from_type(&field.ty);
    limits::check(&settings, kind, errors);
    let rename = settings.string("rename", errors);
    let default = settings
        .get("default")
        .map(|default| value_tokens(&container.form_path, default, &field.ty, kind));
    Some(Field {
        ident,
        ty: &field.ty,
        wire_name: names.add(ident, rename.as_ref(), container.rename_all, errors),
        description_calls: description_calls(field, &settings, container, errors),
        default,
    })
}

/// Returns the builder calls for the attributes and the doc comment.
fn description_calls(
    field: &syn::Field,
    settings: &Settings,
    container: &Container,
    errors: &mut Errors,
) -> TokenStream {
    let form = &container.form_path;
    let kind = FieldKind::from_type(&field.ty);
    let mut calls = TokenStream::new();
    let mut call = |name: &str, at: Span, value: TokenStream| {
        let method = Ident::new(name, at);
        calls.extend(quote_spanned!(at=> let field = field.#method(#value);));
    };
    if let Some(title) = settings.string("title", errors) {
        call("title", title.span(), title.to_token_stream());
    }
    if let Some(text) = docs::joined_paragraphs(&field.attrs) {
        call("description", field.span(), text.to_token_stream());
    }
    for name in ["min", "max"] {
        if let Some(setting) = settings.get(name) {
            let value = value_tokens(form, setting, &field.ty, kind);
            call(name, setting.name.span(), value);
        }
    }
    for name in ["min_length", "max_length", "min_items", "max_items"] {
        if let (Some(count), Some(setting)) = (settings.count(name, errors), settings.get(name)) {
            call(name, setting.name.span(), count.to_token_stream());
        }
    }
    if let (Some(text), Some(setting)) = (settings.string("format", errors), settings.get("format"))
        && let Some(format) = format_variant(&text, errors)
    {
        call(
            "format",
            setting.name.span(),
            quote!(#form::StringFormat::#format),
        );
    }
    if let Some(setting) = settings.get("default") {
        let value = value_tokens(form, setting, &field.ty, kind);
        call("default", setting.name.span(), value);
    }
    calls
}

fn format_variant(text: &LitStr, errors: &mut Errors) -> Option<Ident> {
    let name = text.value();
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    if found.is_none() {
        let known: Vec<&str> = FORMATS.iter().map(|(known, _)| *known).collect();
        let message = format!(
            "unknown format `{name}`; expected one of {}",
            join_names(&known)
        );
        errors.push(text.span(), message);
    }
    found.map(|(_, variant)| Ident::new(variant, text.span()))
}

/// Returns a bound or default as a value of the field's own type.
fn value_tokens(form: &TokenStream, setting: &Setting, ty: &Type, kind: FieldKind) -> TokenStream {
    let value = &setting.value;
    match Literal::read(value) {
        Some(Literal::String(text)) => {
            let ty = respan(ty.to_token_stream(), text.span());
            let form = respan(form.clone(), text.span());
            quote_spanned!(text.span()=> #form::string_default::<#ty>(#text))
        }
        // An integer literal is valid for a float field, though not to the
        // compiler.
        Some(Literal::Integer { negative, digits })
            if kind == FieldKind::Float && digits.suffix().is_empty() =>
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

/// The type is named in a qualified path here and below, so the compiler's
/// errors for a type that cannot be a field are identical and reported once.
fn add_field_call(form: &TokenStream, field: &Field<'_>) -> TokenStream {
    let Field {
        ty,
        wire_name: wire,
        description_calls,
        ..
    } = field;
    quote! {
        .add(#wire, {
            let field = <#ty as #form::Field>::builder();
            #description_calls
            field
        })
    }
}

fn read_field_expr(form: &TokenStream, field: &Field<'_>) -> TokenStream {
    let Field {
        ident,
        ty,
        wire_name: wire,
        ..
    } = field;
    let read = match &field.default {
        Some(default) => {
            quote!(<#ty as #form::Field>::read_from_or(&_answer, #wire, || #default)?)
        }
        None => quote!(<#ty as #form::Field>::read_from(&_answer, #wire)?),
    };
    quote!(#ident: #read,)
}

/// Returns the tokens with another span.
fn respan(tokens: TokenStream, to: Span) -> TokenStream {
    let respan_tree = |tree: TokenTree| match tree {
        TokenTree::Group(group) => {
            let mut respanned = Group::new(group.delimiter(), respan(group.stream(), to));
            respanned.set_span(to);
            TokenTree::Group(respanned)
        }
        mut other => {
            other.set_span(to);
            other
        }
    };
    tokens.into_iter().map(respan_tree).collect()
}

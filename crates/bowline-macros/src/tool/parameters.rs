//! What becomes of the parameters of a tool's function.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{
    Attribute, FnArg, GenericArgument, LitStr, Pat, PatType, PathArguments, Signature, Type,
    parse_quote,
};

use crate::errors::Errors;

/// Attributes that the field of an argument gets.
const OF_FIELDS: &[&str] = &["doc", "serde", "schemars"];
/// Attributes that stay with the parameter.
const OF_PARAMETERS: &[&str] = &["allow", "expect", "warn", "deny", "forbid"];

/// The parameters of a function, sorted.
pub(super) struct Parameters {
    pub(super) given: Given,
    pub(super) context: Option<Context>,
}

/// What the tool is given.
pub(super) enum Given {
    Nothing,
    /// One value that is all arguments.
    Whole(TokenStream),
    Each(Vec<Argument>),
}

/// One argument.
pub(super) struct Argument {
    /// What the field has: what the parameter had.
    pub(super) attributes: Vec<Attribute>,
    pub(super) ident: Ident,
    pub(super) ty: TokenStream,
}

/// The last parameter, where it is the tool's context.
pub(super) struct Context {
    /// Whether it is a `Conversation`.
    pub(super) asks: bool,
    /// The state, where it is named.
    pub(super) state: Option<TokenStream>,
}

/// The attributes of one parameter that the function does not keep.
#[derive(Default)]
struct Marks {
    /// `#[input]`
    input: Option<Attribute>,
    of_field: Vec<Attribute>,
}

impl Parameters {
    /// Sorts the parameters, and takes off them what a function cannot have.
    pub(super) fn take(signature: &mut Signature, errors: &mut Errors) -> Self {
        let mut sorted = Self {
            given: Given::Nothing,
            context: None,
        };
        for parameter in &mut signature.inputs {
            match parameter {
                FnArg::Typed(parameter) => sorted.add(parameter, errors),
                FnArg::Receiver(receiver) => {
                    let message = "a tool has no `self`: what it needs is in the state of the \
                                   server, which a last parameter `cx: Conversation<State>` has";
                    errors.push_at(&receiver.to_token_stream(), message);
                }
            }
        }
        sorted
    }

    fn add(&mut self, parameter: &mut PatType, errors: &mut Errors) {
        let marks = Marks::take(&mut parameter.attrs, errors);
        let whole = parameter.to_token_stream();
        if let Some(context) = Context::of(&parameter.ty) {
            let why = "the context is no argument, and clients do not see it: remove this";
            marks.refuse(why, errors);
            if let Some(attribute) = &marks.input {
                errors.push_at(&attribute.to_token_stream(), why);
            }
            if self.context.is_some() {
                let message = "a tool has one context: a `Conversation` has all that a \
                               `ServerContext` has";
                errors.push_at(&whole, message);
            }
            if matches!(*parameter.ty, Type::Reference(_)) {
                let message = "the context is taken as it is: remove the `&`";
                errors.push_at(&whole, message);
            }
            self.context = Some(context);
            return;
        }
        if self.context.is_some() {
            errors.push_at(&whole, "the context comes last: move this in front of it");
        }
        check_type(&parameter.ty, errors);
        let alone = matches!(self.given, Given::Nothing);
        let is_whole = marks.input.is_some();
        if !alone && (is_whole || matches!(self.given, Given::Whole(_))) {
            let message = "`#[input]` is all arguments at once: put the others into its struct, \
                           or take `#[input]` off";
            errors.push_at(&whole, message);
        } else if is_whole {
            let why = "clients see the fields of the input, one by one: put this there";
            marks.refuse(why, errors);
            self.given = Given::Whole(parameter.ty.to_token_stream());
        } else if let Some(ident) = ident(&parameter.pat, errors) {
            let argument = Argument {
                attributes: marks.of_field,
                ident,
                ty: parameter.ty.to_token_stream(),
            };
            match &mut self.given {
                Given::Each(arguments) => arguments.push(argument),
                given => *given = Given::Each(vec![argument]),
            }
        }
    }
}

impl Context {
    /// The context that a type is, by its name.
    fn of(ty: &Type) -> Option<Self> {
        let path = match ty {
            Type::Path(path) => &path.path,
            Type::Reference(reference) => return Self::of(&reference.elem),
            // What another macro was given as a type.
            Type::Group(group) => return Self::of(&group.elem),
            _ => return None,
        };
        let last = path.segments.last()?;
        let asks = last.ident == "Conversation";
        if !asks && last.ident != "ServerContext" {
            return None;
        }
        let state = match &last.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                Some(GenericArgument::Type(state)) => Some(state.to_token_stream()),
                _ => None,
            },
            _ => None,
        };
        Some(Self { asks, state })
    }
}

impl Marks {
    fn take(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Self {
        let mut marks = Self::default();
        for attribute in std::mem::take(attributes) {
            let path = attribute.path();
            let is_one_of = |names: &[&str]| names.iter().any(|name| path.is_ident(name));
            if is_one_of(OF_FIELDS) {
                marks.of_field.push(attribute);
            } else if is_one_of(OF_PARAMETERS) {
                attributes.push(attribute);
            } else if path.is_ident("header") {
                marks.of_field.extend(errors.ok(header(&attribute)));
            } else if path.is_ident("input") {
                let plain = attribute.meta.require_path_only().map(drop);
                errors.ok(plain);
                marks.input = Some(attribute);
            } else {
                let message = "a parameter of a tool may have a `///` comment, `#[input]`, \
                               `#[header(\"…\")]`, `#[serde(…)]` and `#[schemars(…)]`, and no \
                               other attribute";
                errors.push_at(&attribute.to_token_stream(), message);
            }
        }
        marks
    }

    /// Notes each of them, since there is no field that could have it.
    fn refuse(&self, why: &str, errors: &mut Errors) {
        for attribute in &self.of_field {
            errors.push_at(&attribute.to_token_stream(), why);
        }
    }
}

/// The mark in the schema of an argument that HTTP requests repeat in a header.
fn header(attribute: &Attribute) -> syn::Result<Attribute> {
    let name = attribute.parse_args::<LitStr>().map_err(|_| {
        let message = "`#[header]` takes the name of the header, without `Mcp-Param-`: \
                       `#[header(\"Region\")]`";
        syn::Error::new_spanned(attribute, message)
    })?;
    Ok(parse_quote!(#[schemars(extend("x-mcp-header" = #name))]))
}

/// The name of an argument.
fn ident(pattern: &Pat, errors: &mut Errors) -> Option<Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            Some(name.ident.clone())
        }
        other => {
            let message = "an argument needs a name: take it apart in the function, or mark it \
                           with `#[input]` if it is all arguments at once";
            errors.push_at(&other.to_token_stream(), message);
            None
        }
    }
}

fn check_type(ty: &Type, errors: &mut Errors) {
    if matches!(ty, Type::ImplTrait(_)) {
        let message = "a tool cannot be generic: write the type out";
        errors.push_at(&ty.to_token_stream(), message);
    } else if borrows(ty.to_token_stream()) {
        let message =
            "an argument owns its parts: `String` and not `&str`, `Vec<T>` and not `&[T]`";
        errors.push_at(&ty.to_token_stream(), message);
    }
}

fn borrows(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Punct(punct) => punct.as_char() == '&',
        TokenTree::Group(group) => borrows(group.stream()),
        _ => false,
    })
}

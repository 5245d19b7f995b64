//! What becomes of the parameters of a tool's function.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{
    Attribute, FnArg, GenericArgument, LitStr, Pat, PatType, PathArguments, Signature, Type,
    parse_quote,
};

use crate::errors::Errors;

/// Attributes that the field of an argument gets.
const FIELD_ATTRIBUTES: &[&str] = &["doc", "serde", "schemars"];
/// Attributes that stay with the parameter.
const PARAMETER_ATTRIBUTES: &[&str] = &["allow", "expect", "warn", "deny", "forbid"];

/// The parameters of a function, sorted.
pub(super) struct Parameters {
    pub(super) input: ToolInput,
    pub(super) context: Option<Context>,
}

/// What the tool is given.
pub(super) enum ToolInput {
    None,
    /// One value that is all arguments.
    Single(TokenStream),
    Fields(Vec<Argument>),
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
    pub(super) is_conversation: bool,
    /// The state, where it is named.
    pub(super) state: Option<TokenStream>,
}

/// The attributes of one parameter that the function does not keep.
#[derive(Default)]
struct ParameterAttributes {
    /// `#[input]`
    input: Option<Attribute>,
    field: Vec<Attribute>,
}

impl Parameters {
    /// Sorts the parameters, and takes off them what a function cannot have.
    pub(super) fn extract(signature: &mut Signature, errors: &mut Errors) -> Self {
        let mut parameters = Self {
            input: ToolInput::None,
            context: None,
        };
        for parameter in &mut signature.inputs {
            match parameter {
                FnArg::Typed(parameter) => parameters.add(parameter, errors),
                FnArg::Receiver(receiver) => {
                    let message = "a tool has no `self`: what it needs is in the state of the \
                                   server, which a last parameter `cx: Conversation<State>` has";
                    errors.push_spanned(&receiver.to_token_stream(), message);
                }
            }
        }
        parameters
    }

    fn add(&mut self, parameter: &mut PatType, errors: &mut Errors) {
        let extracted = ParameterAttributes::extract(&mut parameter.attrs, errors);
        let tokens = parameter.to_token_stream();
        if let Some(context) = Context::from_type(&parameter.ty) {
            let reason = "the context is no argument, and clients do not see it: remove this";
            extracted.reject_field_attributes(reason, errors);
            if let Some(attribute) = &extracted.input {
                errors.push_spanned(&attribute.to_token_stream(), reason);
            }
            if self.context.is_some() {
                let message = "a tool has one context: a `Conversation` has all that a \
                               `ServerContext` has";
                errors.push_spanned(&tokens, message);
            }
            if matches!(*parameter.ty, Type::Reference(_)) {
                let message = "the context is taken as it is: remove the `&`";
                errors.push_spanned(&tokens, message);
            }
            self.context = Some(context);
            return;
        }
        if self.context.is_some() {
            errors.push_spanned(&tokens, "the context comes last: move this in front of it");
        }
        check_type(&parameter.ty, errors);
        let is_first = matches!(self.input, ToolInput::None);
        let is_input = extracted.input.is_some();
        if !is_first && (is_input || matches!(self.input, ToolInput::Single(_))) {
            let message = "`#[input]` is all arguments at once: put the others into its struct, \
                           or take `#[input]` off";
            errors.push_spanned(&tokens, message);
        } else if is_input {
            let reason = "clients see the fields of the input, one by one: put this there";
            extracted.reject_field_attributes(reason, errors);
            self.input = ToolInput::Single(parameter.ty.to_token_stream());
        } else if let Some(ident) = argument_ident(&parameter.pat, errors) {
            let argument = Argument {
                attributes: extracted.field,
                ident,
                ty: parameter.ty.to_token_stream(),
            };
            match &mut self.input {
                ToolInput::Fields(arguments) => arguments.push(argument),
                other_input => *other_input = ToolInput::Fields(vec![argument]),
            }
        }
    }
}

impl Context {
    /// The context that a type is, by its name.
    fn from_type(ty: &Type) -> Option<Self> {
        let path = match ty {
            Type::Path(path) => &path.path,
            Type::Reference(reference) => return Self::from_type(&reference.elem),
            // What another macro was given as a type.
            Type::Group(group) => return Self::from_type(&group.elem),
            _ => return None,
        };
        let last = path.segments.last()?;
        let is_conversation = last.ident == "Conversation";
        if !is_conversation && last.ident != "ServerContext" {
            return None;
        }
        let state = match &last.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                Some(GenericArgument::Type(state)) => Some(state.to_token_stream()),
                _ => None,
            },
            _ => None,
        };
        Some(Self {
            is_conversation,
            state,
        })
    }
}

impl ParameterAttributes {
    fn extract(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Self {
        let mut extracted = Self::default();
        for attribute in std::mem::take(attributes) {
            let path = attribute.path();
            let is_one_of = |names: &[&str]| names.iter().any(|name| path.is_ident(name));
            if is_one_of(FIELD_ATTRIBUTES) {
                extracted.field.push(attribute);
            } else if is_one_of(PARAMETER_ATTRIBUTES) {
                attributes.push(attribute);
            } else if path.is_ident("header") {
                extracted
                    .field
                    .extend(errors.ok(header_schema_attribute(&attribute)));
            } else if path.is_ident("input") {
                let plain = attribute.meta.require_path_only().map(drop);
                errors.ok(plain);
                extracted.input = Some(attribute);
            } else {
                let message = "a parameter of a tool may have a `///` comment, `#[input]`, \
                               `#[header(\"…\")]`, `#[serde(…)]` and `#[schemars(…)]`, and no \
                               other attribute";
                errors.push_spanned(&attribute.to_token_stream(), message);
            }
        }
        extracted
    }

    /// Notes each of them, since there is no field that could have it.
    fn reject_field_attributes(&self, reason: &str, errors: &mut Errors) {
        for attribute in &self.field {
            errors.push_spanned(&attribute.to_token_stream(), reason);
        }
    }
}

/// The mark in the schema of an argument that HTTP requests repeat in a header.
fn header_schema_attribute(attribute: &Attribute) -> syn::Result<Attribute> {
    let name = attribute.parse_args::<LitStr>().map_err(|_| {
        let message = "`#[header]` takes the name of the header, without `Mcp-Param-`: \
                       `#[header(\"Region\")]`";
        syn::Error::new_spanned(attribute, message)
    })?;
    Ok(parse_quote!(#[schemars(extend("x-mcp-header" = #name))]))
}

/// The name of an argument.
fn argument_ident(pattern: &Pat, errors: &mut Errors) -> Option<Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            Some(name.ident.clone())
        }
        other => {
            let message = "an argument needs a name: take it apart in the function, or mark it \
                           with `#[input]` if it is all arguments at once";
            errors.push_spanned(&other.to_token_stream(), message);
            None
        }
    }
}

fn check_type(ty: &Type, errors: &mut Errors) {
    if matches!(ty, Type::ImplTrait(_)) {
        let message = "a tool cannot be generic: write the type out";
        errors.push_spanned(&ty.to_token_stream(), message);
    } else if borrows(ty.to_token_stream()) {
        let message =
            "an argument owns its parts: `String` and not `&str`, `Vec<T>` and not `&[T]`";
        errors.push_spanned(&ty.to_token_stream(), message);
    }
}

fn borrows(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Punct(punct) => punct.as_char() == '&',
        TokenTree::Group(group) => borrows(group.stream()),
        _ => false,
    })
}

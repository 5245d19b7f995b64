//! The parameters of a tool's function.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{
    Attribute, FnArg, GenericArgument, LitStr, Pat, PatType, PathArguments, Signature, Type,
    parse_quote,
};

use crate::errors::Errors;

/// Attributes that are moved to the field of an argument.
const FIELD_ATTRIBUTES: &[&str] = &["doc", "serde", "schemars"];
/// Attributes that stay on the parameter.
const PARAMETER_ATTRIBUTES: &[&str] = &["allow", "expect", "warn", "deny", "forbid"];

/// The parameters of a function by their role.
pub(super) struct Parameters {
    pub(super) input: ToolInput,
    pub(super) context: Option<Context>,
}

/// The input of the tool.
pub(super) enum ToolInput {
    None,
    /// A single value with all arguments.
    Single(TokenStream),
    Fields(Vec<Argument>),
}

/// One argument.
pub(super) struct Argument {
    /// The attributes of the field, taken from the parameter.
    pub(super) attributes: Vec<Attribute>,
    pub(super) ident: Ident,
    pub(super) ty: TokenStream,
}

/// The last parameter, if it is the tool's context.
pub(super) struct Context {
    /// Whether it is a `Conversation`.
    pub(super) is_conversation: bool,
    /// The state type, if it is named.
    pub(super) state: Option<TokenStream>,
}

/// The attributes of one parameter that are removed from the function.
#[derive(Default)]
struct ParameterAttributes {
    /// `#[input]`
    input: Option<Attribute>,
    field: Vec<Attribute>,
}

impl Parameters {
    /// Sorts the parameters, and removes the attributes that a function cannot
    /// have.
    pub(super) fn extract(signature: &mut Signature, errors: &mut Errors) -> Self {
        let mut parameters = Self {
            input: ToolInput::None,
            context: None,
        };
        for parameter in &mut signature.inputs {
            match parameter {
                FnArg::Typed(parameter) => parameters.add(parameter, errors),
                FnArg::Receiver(receiver) => {
                    let message = "a tool cannot take `self`: use the state of the server through \
                                   a last parameter `cx: Conversation<State>`";
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
            let reason =
                "the context is not an argument, and clients do not see it: remove this attribute";
            extracted.reject_field_attributes(reason, errors);
            if let Some(attribute) = &extracted.input {
                errors.push_spanned(&attribute.to_token_stream(), reason);
            }
            if self.context.is_some() {
                let message = "a tool takes only one context: a `Conversation` has everything \
                               that a `HandlerContext` has";
                errors.push_spanned(&tokens, message);
            }
            if matches!(*parameter.ty, Type::Reference(_)) {
                let message = "the context must be taken by value: remove the `&`";
                errors.push_spanned(&tokens, message);
            }
            self.context = Some(context);
            return;
        }
        if self.context.is_some() {
            errors.push_spanned(
                &tokens,
                "the context must be the last parameter: move this before it",
            );
        }
        check_type(&parameter.ty, errors);
        let is_first = matches!(self.input, ToolInput::None);
        let is_input = extracted.input.is_some();
        if !is_first && (is_input || matches!(self.input, ToolInput::Single(_))) {
            let message = "`#[input]` takes all arguments: move the others into its struct, \
                           or remove `#[input]`";
            errors.push_spanned(&tokens, message);
        } else if is_input {
            let reason = "clients see the fields of the input: put this attribute on a field";
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
    /// Returns the context that a type name stands for.
    fn from_type(ty: &Type) -> Option<Self> {
        let path = match ty {
            Type::Path(path) => &path.path,
            Type::Reference(reference) => return Self::from_type(&reference.elem),
            // A type that was passed through another macro.
            Type::Group(group) => return Self::from_type(&group.elem),
            _ => return None,
        };
        let last = path.segments.last()?;
        let is_conversation = last.ident == "Conversation";
        if !is_conversation && last.ident != "HandlerContext" {
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
                let message = "unsupported attribute: a tool parameter may have a `///` comment, \
                               `#[input]`, `#[header(\"…\")]`, `#[serde(…)]` and \
                               `#[schemars(…)]`";
                errors.push_spanned(&attribute.to_token_stream(), message);
            }
        }
        extracted
    }

    /// Reports each of them, since there is no field to move it to.
    fn reject_field_attributes(&self, reason: &str, errors: &mut Errors) {
        for attribute in &self.field {
            errors.push_spanned(&attribute.to_token_stream(), reason);
        }
    }
}

/// Returns the schema attribute of an argument that HTTP requests repeat in a
/// header.
fn header_schema_attribute(attribute: &Attribute) -> syn::Result<Attribute> {
    let name = attribute.parse_args::<LitStr>().map_err(|_| {
        let message = "`#[header]` takes the name of the header, without `Mcp-Param-`: \
                       `#[header(\"Region\")]`";
        syn::Error::new_spanned(attribute, message)
    })?;
    Ok(parse_quote!(#[schemars(extend("x-mcp-header" = #name))]))
}

/// Returns the name of an argument.
fn argument_ident(pattern: &Pat, errors: &mut Errors) -> Option<Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            Some(name.ident.clone())
        }
        other => {
            let message = "an argument needs a name: destructure it in the function body, or \
                           mark it with `#[input]` if it holds all arguments";
            errors.push_spanned(&other.to_token_stream(), message);
            None
        }
    }
}

fn check_type(ty: &Type, errors: &mut Errors) {
    if matches!(ty, Type::ImplTrait(_)) {
        let message = "a tool cannot be generic: use a concrete type";
        errors.push_spanned(&ty.to_token_stream(), message);
    } else if borrows(ty.to_token_stream()) {
        let message =
            "an argument must be owned: use `String` instead of `&str`, `Vec<T>` instead of `&[T]`";
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

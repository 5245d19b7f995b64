//! The function that `#[tool]` is applied to.

use proc_macro2::TokenStream;
use quote::{ToTokens, TokenStreamExt as _};
use syn::{
    Attribute, FnArg, ReturnType, Safety, Signature, Visibility,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
    token,
};

use crate::errors::Errors;

/// A function whose body is not parsed, so an incomplete one does no harm.
pub(super) struct Function {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) signature: Signature,
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        if !input.peek(token::Brace) {
            return Err(input.error("expected a function body"));
        }
        Ok(Self {
            attributes,
            visibility,
            signature,
            body: input.parse()?,
        })
    }
}

impl Function {
    /// Reports why it cannot be a tool, apart from its parameters.
    pub(super) fn check(&self, errors: &mut Errors) {
        let signature = &self.signature;
        if signature.asyncness.is_none() {
            let message = "a tool must be an async function: write `async fn`";
            errors.push(signature.fn_token.span(), message);
        }
        if !matches!(signature.safety, Safety::Default) {
            let message = "a tool cannot be `unsafe`, since clients call it with any arguments";
            errors.push_spanned(&signature.safety.to_token_stream(), message);
        }
        if !signature.generics.params.is_empty() {
            let message = "a tool cannot be generic: define one tool for each concrete type";
            errors.push_spanned(&signature.generics.params.to_token_stream(), message);
        }
        if matches!(signature.output, ReturnType::Default) {
            let message =
                "a tool must return a `Result`: write `-> Result<()>` if it has no output";
            errors.push(signature.paren_token.span.close(), message);
        }
    }

    /// Returns whether it is a method.
    pub(super) fn has_receiver(&self) -> bool {
        let first = self.signature.inputs.first();
        matches!(first, Some(FnArg::Receiver(_)))
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attributes);
        self.visibility.to_tokens(tokens);
        self.signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

//! The options in `#[tool(…)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    LitStr, Path, Token, Type,
    ext::IdentExt as _,
    parse::{Parse, ParseStream, Parser as _},
    punctuated::Punctuated,
    token,
};

use crate::{
    attributes::{Setting, Settings, check_name, join_names},
    errors::Errors,
};

const OPTIONS: &[&str] = &[
    "name",
    "title",
    "read_only",
    "idempotent",
    "destructive",
    "open_world",
    "requires",
    "elicits",
    "scope",
    "limits",
    "crate",
];
const CAPABILITIES: &[(&str, &str)] = &[
    ("elicitation", "Elicitation"),
    ("url_elicitation", "UrlElicitation"),
    ("sampling", "Sampling"),
    ("sampling_tools", "SamplingTools"),
    ("roots", "Roots"),
];
const LIMITS: &[&str] = &["timeout_ms", "max_questions", "max_tokens", "max_depth"];

/// The parsed options.
pub(super) struct Options {
    pub(super) name: Option<LitStr>,
    /// The builder calls for the other options.
    pub(super) calls: TokenStream,
    /// The path of `bowline::server`.
    pub(super) server: TokenStream,
    /// The path of the items that only generated code uses.
    pub(super) private: TokenStream,
}

/// One option as written.
enum ToolOption {
    Flag(Ident),
    Value(Setting),
    List(Ident, TokenStream),
}

impl Options {
    pub(super) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let parser = Punctuated::<ToolOption, Token![,]>::parse_terminated;
        let list = errors.ok(parser.parse2(tokens)).unwrap_or_default();
        let mut names: Vec<Ident> = Vec::new();
        let mut name = None;
        let mut root = None;
        let mut calls = Vec::new();
        for option in list {
            let ident = option.ident().clone();
            if !check_name(&ident, names.iter(), "a tool", OPTIONS, errors) {
                continue;
            }
            match ident.to_string().as_str() {
                "name" => name = errors.ok(option.string()),
                "crate" => {
                    let path = option.string().and_then(|literal| literal.parse::<Path>());
                    root = errors.ok(path);
                }
                _ => calls.push(option),
            }
            names.push(ident);
        }
        let root = root.map_or_else(|| quote!(::bowline), |root| quote!(#root));
        let server = quote!(#root::server);
        let calls = calls
            .into_iter()
            .filter_map(|option| {
                let call = option.builder_call(&server, errors);
                errors.ok(call)
            })
            .collect();
        Self {
            name,
            calls,
            private: quote!(#server::tool::__private),
            server,
        }
    }
}

impl Parse for ToolOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // `crate` is a keyword.
        let name = input.call(Ident::parse_any)?;
        if input.peek(token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            return Ok(Self::List(name, content.parse()?));
        }
        if input.peek(Token![=]) {
            return Setting::parse_value(name, input).map(Self::Value);
        }
        Ok(Self::Flag(name))
    }
}

impl ToolOption {
    fn ident(&self) -> &Ident {
        match self {
            Self::Flag(name) | Self::List(name, _) => name,
            Self::Value(setting) => &setting.name,
        }
    }

    fn string(&self) -> syn::Result<LitStr> {
        self.value("\"…\"")?.string()
    }

    /// Returns the equivalent builder call.
    fn builder_call(self, server: &TokenStream, errors: &mut Errors) -> syn::Result<TokenStream> {
        let name = self.ident().clone();
        let at = name.span();
        match name.to_string().as_str() {
            "read_only" | "idempotent" => {
                self.flag()?;
                Ok(quote_spanned!(at=> .#name()))
            }
            "destructive" | "open_world" => {
                let value = self.value("false")?.boolean()?;
                Ok(quote_spanned!(at=> .#name(#value)))
            }
            "requires" => {
                let capabilities = self.items::<Ident>("elicitation, sampling")?;
                let capabilities = capabilities
                    .iter()
                    .filter_map(|capability| errors.ok(capability_variant(capability)));
                Ok(
                    quote_spanned!(at=> .requires([ #( #server::ClientCapability::#capabilities ),* ])),
                )
            }
            "elicits" => {
                let forms = self.items::<Type>("FirstForm, SecondForm")?;
                Ok(forms
                    .iter()
                    .map(|form| quote!(.elicits::<#form>()))
                    .collect())
            }
            "scope" => {
                let scopes = match &self {
                    Self::List(..) => self.items::<LitStr>("\"notes:read\", \"notes:write\"")?,
                    _ => vec![self.string()?],
                };
                Ok(quote_spanned!(at=> #( .scope(#scopes) )*))
            }
            "limits" => {
                let parsed = Settings::parse_list
                    .parse2(self.list("max_questions = 10, timeout_ms = 5000")?)?;
                let settings = Settings::from_list(parsed, "`limits`", LIMITS, errors);
                let limits = LIMITS.iter().filter_map(|limit| settings.get(limit));
                let limits: TokenStream = limits.map(limit_call).collect();
                Ok(quote_spanned!(at=> .limits(#server::CallLimits::new() #limits)))
            }
            _ => {
                let literal = self.string()?;
                Ok(quote_spanned!(at=> .#name(#literal)))
            }
        }
    }

    fn flag(&self) -> syn::Result<()> {
        match self {
            Self::Flag(_) => Ok(()),
            other => {
                let name = other.ident();
                let message = format!("`{name}` takes no value: remove the option to disable it");
                Err(syn::Error::new(name.span(), message))
            }
        }
    }

    fn value(&self, example: &str) -> syn::Result<&Setting> {
        match self {
            Self::Value(setting) => Ok(setting),
            other => {
                let name = other.ident();
                let message = format!("`{name}` needs a value: `{name} = {example}`");
                Err(syn::Error::new(name.span(), message))
            }
        }
    }

    fn list(self, example: &str) -> syn::Result<TokenStream> {
        match self {
            Self::List(_, content) if !content.is_empty() => Ok(content),
            other => {
                let name = other.ident();
                let message = format!("`{name}` takes a list: `{name}({example})`");
                Err(syn::Error::new(name.span(), message))
            }
        }
    }

    fn items<T: Parse>(self, example: &str) -> syn::Result<Vec<T>> {
        let parser = Punctuated::<T, Token![,]>::parse_terminated;
        let items = parser.parse2(self.list(example)?)?;
        Ok(items.into_iter().collect())
    }
}

/// Returns the variant of `ClientCapability`.
fn capability_variant(capability: &Ident) -> syn::Result<Ident> {
    let found = CAPABILITIES.iter().find(|(name, _)| capability == name);
    let variant = found.map(|(_, variant)| Ident::new(variant, capability.span()));
    variant.ok_or_else(|| {
        let known: Vec<&str> = CAPABILITIES.iter().map(|(name, _)| *name).collect();
        let message = format!(
            "unknown client capability `{capability}`; expected one of {}",
            join_names(&known)
        );
        syn::Error::new(capability.span(), message)
    })
}

/// Returns the call that sets one limit.
fn limit_call(setting: &Setting) -> TokenStream {
    let Setting { name, value } = setting;
    if name == "timeout_ms" {
        quote!(.timeout(::core::time::Duration::from_millis(#value)))
    } else {
        quote!(.#name(#value))
    }
}

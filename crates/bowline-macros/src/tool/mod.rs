//! `#[tool]`: tools from async functions.
//!
//! [`function`] parses the function, [`options`] the attribute's options, and
//! [`parameters`] the function's parameters.

mod function;
mod options;
mod parameters;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, ReturnType, ext::IdentExt as _, spanned::Spanned as _};

use self::{
    function::Function,
    options::Options,
    parameters::{Argument, Context, Parameters, ToolInput},
};
use crate::{case::Case, docs, errors::Errors};

/// Expands to the function and its tool.
pub(crate) fn expand(options: TokenStream, function: &TokenStream) -> TokenStream {
    let mut function: Function = match syn::parse2(function.clone()) {
        Ok(function) => function,
        Err(_) => {
            let message = "`#[tool]` can only be applied to an async function with a body";
            let error = syn::Error::new(Span::call_site(), message).to_compile_error();
            return quote!(#error #function);
        }
    };
    let mut errors = Errors::default();
    let options = Options::read(options, &mut errors);
    function.check(&mut errors);
    let parameters = Parameters::extract(&mut function.signature, &mut errors);
    let name = name(&function, &options, &mut errors);
    let description = docs::lines(&function.attributes);
    if description.is_none() {
        let message = "a tool needs a description, which models choose it by: add a `///` \
                       comment to the function";
        errors.push(function.signature.ident.span(), message);
    }
    let tool = match errors.finish() {
        Ok(()) => {
            let description = description.unwrap_or_default();
            let builder = quote!(new(#name).description(#description));
            tool_impl(&function, &options, &parameters, &builder)
        }
        // Code that uses the function and the tool should not fail, too.
        Err(error) => {
            let error = error.to_compile_error();
            let stub = (!function.has_receiver()).then(|| stub(&function, &options));
            quote!(#error #stub)
        }
    };
    quote!(#function #tool)
}

/// Returns the tool name: the function's, unless another is given.
fn name(function: &Function, options: &Options, errors: &mut Errors) -> String {
    let ident = &function.signature.ident;
    let (name, at) = match &options.name {
        Some(name) => (name.value(), name.span()),
        None => (ident.unraw().to_string(), ident.span()),
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if name.is_empty() || name.len() > 128 || !name.bytes().all(allowed) {
        let remedy = match options.name {
            Some(_) => "",
            None => "; set another with `#[tool(name = \"…\")]`",
        };
        let message = format!(
            "a tool name must consist of 1 to 128 ASCII letters, digits, `_`, `-` and \
             `.`{remedy}"
        );
        errors.push(at, message);
    }
    name
}

/// Generates a type with the function's name, which has the tool. A type rather
/// than a module, so it sees what the function sees, even inside of another
/// function.
fn tool_impl(
    function: &Function,
    options: &Options,
    parameters: &Parameters,
    builder: &TokenStream,
) -> TokenStream {
    let server = &options.server;
    let calls = &options.calls;
    let (declaration, input) = match &parameters.input {
        ToolInput::None => (None, quote!(no_input())),
        ToolInput::Single(ty) => (None, quote_spanned!(ty.span()=> input::<#ty>())),
        ToolInput::Fields(arguments) => (
            Some(arguments_struct(function, options, arguments)),
            quote!(input::<__Arguments>()),
        ),
    };
    let handler = handler_call(function, options, parameters);
    let tool_expr = quote!(#server::Tool::#builder.#input #calls #handler);
    let generics = quote!(<__State: ::core::marker::Send + ::core::marker::Sync + 'static>);
    let (generics, state, tool_expr) = match &parameters.context {
        None => (Some(generics), quote!(__State), tool_expr),
        Some(context) => match &context.state {
            Some(state) => (None, quote!(#state), tool_expr),
            None => (
                Some(generics),
                quote!(__State),
                quote!(#server::Tool::<()>::with_any_state(#tool_expr)),
            ),
        },
    };
    let body = quote!(#declaration #tool_expr);
    tool_type(function, options, generics.as_ref(), &state, &body)
}

/// Generates the struct that the arguments are deserialized into. Its title is
/// not its name: an argument's type may have the name of the function.
fn arguments_struct(function: &Function, options: &Options, arguments: &[Argument]) -> TokenStream {
    let private = &options.private;
    let serde = quote!(#private::serde).to_string();
    let schemars = quote!(#private::schemars).to_string();
    let title = Case::Pascal.apply(&function.signature.ident.unraw().to_string());
    let fields = arguments.iter().map(|argument| {
        let Argument {
            attributes,
            ident,
            ty,
        } = argument;
        quote!(#( #attributes )* #ident: #ty)
    });
    quote! {
        #[derive(#private::serde::Deserialize, #private::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars, title = #title)]
        struct __Arguments {
            #( #fields, )*
        }
    }
}

/// Generates the call that completes the tool, with the span of the return type
/// for its errors.
fn handler_call(function: &Function, options: &Options, parameters: &Parameters) -> TokenStream {
    let server = &options.server;
    let ident = &function.signature.ident;
    let input = Ident::new("input", Span::mixed_site());
    let cx = Ident::new("cx", Span::mixed_site());
    let at = match &function.signature.output {
        ReturnType::Type(_, ty) => ty.span(),
        ReturnType::Default => ident.span(),
    };
    let arguments = match &parameters.input {
        ToolInput::None => TokenStream::new(),
        ToolInput::Single(_) => quote!(#input,),
        ToolInput::Fields(arguments) => {
            let fields = arguments.iter().map(|argument| &argument.ident);
            quote!(#( #input.#fields, )*)
        }
    };
    let input = match parameters.input {
        ToolInput::None => quote!(_),
        ToolInput::Single(_) => quote!(#input),
        ToolInput::Fields(_) => quote!(#input: __Arguments),
    };
    match &parameters.context {
        None => quote_spanned!(at=> .handler(|#input| #ident(#arguments))),
        Some(Context {
            is_conversation,
            state,
        }) => {
            let state = state.as_ref();
            let state = state.map_or_else(|| quote!(()), |state| quote!(#state));
            if *is_conversation {
                let parameter = quote!(#cx: #server::Conversation<#state>);
                quote_spanned!(at=> .handler_with_conversation(|#input, #parameter| #ident(#arguments #cx)))
            } else {
                let parameter = quote!(#cx: #server::HandlerContext<#state>);
                quote_spanned!(at=> .handler_with_context(|#input, #parameter| #ident(#arguments #cx)))
            }
        }
    }
}

/// Generates a tool that is never built, after an error.
fn stub(function: &Function, options: &Options) -> TokenStream {
    let generics = quote!(<__State>);
    let body = quote!(::core::unreachable!());
    tool_type(function, options, Some(&generics), &quote!(__State), &body)
}

fn tool_type(
    function: &Function,
    options: &Options,
    generics: Option<&TokenStream>,
    state: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let server = &options.server;
    let Function {
        attributes,
        visibility,
        signature,
        ..
    } = function;
    let ident = &signature.ident;
    let is_cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    let cfgs: Vec<&Attribute> = attributes.iter().filter(is_cfg).collect();
    let doc_text = format!("The tool of [`{ident}`](fn@{ident}).");
    quote! {
        #( #cfgs )*
        #[doc = #doc_text]
        #[allow(non_camel_case_types)]
        #visibility enum #ident {}

        #( #cfgs )*
        impl #ident {
            /// Returns the tool, to be added to a server.
            #[must_use]
            #visibility fn tool #generics () -> #server::Tool<#state> {
                #body
            }
        }
    }
}

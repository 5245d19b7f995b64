//! Settings in attributes: names with values.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Attribute, LitBool, LitInt, LitStr, Token, ext::IdentExt as _, parse::ParseStream,
    punctuated::Punctuated,
};

use crate::errors::Errors;

/// One name with its value.
pub(crate) struct Setting {
    pub(crate) name: Ident,
    pub(crate) value: TokenStream,
}

/// The settings of one attribute.
pub(crate) struct Settings(Vec<Setting>);

impl Settings {
    /// Reads the `#[elicit(…)]` of an item, with the given known names.
    pub(crate) fn read(
        attributes: &[Attribute],
        subject: &str,
        known: &[&str],
        errors: &mut Errors,
    ) -> Self {
        let mut parsed = Vec::new();
        for attribute in attributes {
            if attribute.path().is_ident("elicit") {
                let list = attribute.parse_args_with(Self::parse_list);
                parsed.extend(errors.ok(list).into_iter().flatten());
            }
        }
        Self::from_list(parsed, subject, known, errors)
    }

    /// Parses comma-separated settings.
    pub(crate) fn parse_list(input: ParseStream<'_>) -> syn::Result<Vec<Setting>> {
        let parser = Punctuated::<Setting, Token![,]>::parse_terminated_with;
        Ok(parser(input, Setting::parse)?.into_iter().collect())
    }

    /// Collects the settings of an item, with the given known names.
    pub(crate) fn from_list(
        parsed: Vec<Setting>,
        subject: &str,
        known: &[&str],
        errors: &mut Errors,
    ) -> Self {
        let mut settings: Vec<Setting> = Vec::new();
        for setting in parsed {
            let earlier = settings.iter().map(|other| &other.name);
            if check_name(&setting.name, earlier, subject, known, errors) {
                settings.push(setting);
            }
        }
        Self(settings)
    }

    /// Returns a setting, if it is present.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|setting| setting.name == name)
    }

    /// Returns a string setting, if it is present.
    pub(crate) fn string(&self, name: &str, errors: &mut Errors) -> Option<LitStr> {
        errors.ok(self.get(name)?.string())
    }

    /// Returns a count setting, if it is present.
    pub(crate) fn count(&self, name: &str, errors: &mut Errors) -> Option<u64> {
        errors.ok(self.get(name)?.count())
    }
}

impl Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // `crate` is a keyword.
        let name = input.call(Ident::parse_any)?;
        Self::parse_value(name, input)
    }

    /// Parses the value after the name.
    pub(crate) fn parse_value(name: Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Token![=]) {
            let message = format!("`{name}` needs a value: `{name} = …`");
            return Err(syn::Error::new(name.span(), message));
        }
        input.parse::<Token![=]>()?;
        let mut value = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            value.extend([input.parse::<TokenTree>()?]);
        }
        if value.is_empty() {
            let message = format!("`{name}` needs a value: `{name} = …`");
            return Err(syn::Error::new(name.span(), message));
        }
        Ok(Self { name, value })
    }

    /// Returns the value as a string.
    pub(crate) fn string(&self) -> syn::Result<LitStr> {
        let invalid = |_| {
            let message = format!("`{0}` takes a string: `{0} = \"…\"`", self.name);
            syn::Error::new_spanned(&self.value, message)
        };
        syn::parse2(self.value.clone()).map_err(invalid)
    }

    /// Returns the value as `true` or `false`.
    pub(crate) fn boolean(&self) -> syn::Result<LitBool> {
        let invalid = |_| {
            let message = format!("`{0}` takes `true` or `false`: `{0} = false`", self.name);
            syn::Error::new_spanned(&self.value, message)
        };
        syn::parse2(self.value.clone()).map_err(invalid)
    }

    fn count(&self) -> syn::Result<u64> {
        let number = syn::parse2::<LitInt>(self.value.clone());
        let invalid = |_| {
            let message = format!("`{0}` takes an integer: `{0} = 3`", self.name);
            syn::Error::new_spanned(&self.value, message)
        };
        number.and_then(|n| n.base10_parse()).map_err(invalid)
    }
}

/// Returns whether a name is known and not a duplicate; reports it otherwise.
pub(crate) fn check_name<'a>(
    name: &Ident,
    mut earlier: impl Iterator<Item = &'a Ident>,
    subject: &str,
    known: &[&str],
    errors: &mut Errors,
) -> bool {
    let message = if !known.contains(&name.to_string().as_str()) {
        format!(
            "unknown setting `{name}` for {subject}; expected one of {}",
            join_names(known)
        )
    } else if earlier.any(|other| other == name) {
        format!("duplicate `{name}`")
    } else {
        return true;
    };
    errors.push(name.span(), message);
    false
}

/// Joins names for a message: `a`, `b` or `c`.
pub(crate) fn join_names(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

//! What stands in attributes: names with values.

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

/// The settings of one place that were not asked for yet.
pub(crate) struct Settings(Vec<Setting>);

impl Settings {
    /// Reads the `#[elicit(…)]` of one place, where only certain names are
    /// known.
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

    /// Settings with commas between them.
    pub(crate) fn parse_list(input: ParseStream<'_>) -> syn::Result<Vec<Setting>> {
        let parser = Punctuated::<Setting, Token![,]>::parse_terminated_with;
        Ok(parser(input, Setting::parse)?.into_iter().collect())
    }

    /// The settings of one place, where only certain names are known.
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

    /// A setting, if it is there.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|setting| setting.name == name)
    }

    /// A setting that is a text, if it is there.
    pub(crate) fn string(&self, name: &str, errors: &mut Errors) -> Option<LitStr> {
        errors.ok(self.get(name)?.string())
    }

    /// A setting that is a number of things, if it is there.
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

    /// What follows the name.
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

    /// The value, which is a text.
    pub(crate) fn string(&self) -> syn::Result<LitStr> {
        let invalid = |_| {
            let message = format!("`{0}` takes a text: `{0} = \"…\"`", self.name);
            syn::Error::new_spanned(&self.value, message)
        };
        syn::parse2(self.value.clone()).map_err(invalid)
    }

    /// The value, which is `true` or `false`.
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
            let message = format!("`{0}` takes a whole number: `{0} = 3`", self.name);
            syn::Error::new_spanned(&self.value, message)
        };
        number.and_then(|n| n.base10_parse()).map_err(invalid)
    }
}

/// Whether a name is known here and new; notes it where it is not.
pub(crate) fn check_name<'a>(
    name: &Ident,
    mut earlier: impl Iterator<Item = &'a Ident>,
    subject: &str,
    known: &[&str],
    errors: &mut Errors,
) -> bool {
    let message = if !known.contains(&name.to_string().as_str()) {
        format!("{subject} has no `{name}`; it has {}", join_names(known))
    } else if earlier.any(|other| other == name) {
        format!("`{name}` is given twice")
    } else {
        return true;
    };
    errors.push(name.span(), message);
    false
}

/// A list as one says it: `a`, `b` and `c`.
pub(crate) fn join_names(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

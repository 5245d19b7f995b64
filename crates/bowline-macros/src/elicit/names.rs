//! Names on the wire, each of which may be used once.

use proc_macro2::{Ident, Span};
use syn::{LitStr, ext::IdentExt as _};

use crate::{case::Case, errors::Errors};

/// The names so far, each with what it stands for in the code.
#[derive(Default)]
pub(super) struct Names(Vec<(String, Ident)>);

impl Names {
    /// The name of a field or variant on the wire.
    pub(super) fn add(
        &mut self,
        ident: &Ident,
        rename: Option<&LitStr>,
        rename_all: Option<Case>,
        errors: &mut Errors,
    ) -> String {
        let plain = ident.unraw().to_string();
        let name = match (rename, rename_all) {
            (Some(rename), _) => rename.value(),
            (None, Some(case)) => case.write(&plain),
            (None, None) => plain,
        };
        let at: Span = rename.map_or_else(|| ident.span(), LitStr::span);
        if name.is_empty() {
            errors.push(at, "a name on the wire cannot be empty");
        }
        if let Some((_, other)) = self.0.iter().find(|(used, _)| *used == name) {
            let message = format!(
                "`{name}` is the name of `{other}` already; give one of them another `rename`"
            );
            errors.push(at, message);
        }
        self.0.push((name.clone(), ident.clone()));
        name
    }
}

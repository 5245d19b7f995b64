//! Names on the wire, each of which may be used once.

use proc_macro2::{Ident, Span};
use syn::{LitStr, ext::IdentExt as _};

use crate::{case::Case, errors::Errors};

/// The names so far.
pub(super) struct WireNames {
    /// What has the names.
    item_kind: &'static str,
    used: Vec<String>,
}

impl WireNames {
    pub(super) fn new(item_kind: &'static str) -> Self {
        Self {
            item_kind,
            used: Vec::new(),
        }
    }

    /// The name of a field or variant on the wire.
    pub(super) fn add(
        &mut self,
        ident: &Ident,
        rename: Option<&LitStr>,
        rename_all: Option<Case>,
        errors: &mut Errors,
    ) -> String {
        let rust_name = ident.unraw().to_string();
        let name = match (rename, rename_all) {
            (Some(rename), _) => rename.value(),
            (None, Some(case)) => case.apply(&rust_name),
            (None, None) => rust_name,
        };
        let at: Span = rename.map_or_else(|| ident.span(), LitStr::span);
        if name.is_empty() {
            errors.push(at, "a name on the wire cannot be empty");
        }
        if self.used.contains(&name) {
            let message = format!(
                "two {} have the name `{name}` on the wire; `rename` one of them",
                self.item_kind
            );
            errors.push(at, message);
        }
        self.used.push(name.clone());
        name
    }
}

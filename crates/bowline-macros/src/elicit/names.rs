//! Serialized names, which must be unique.

use proc_macro2::{Ident, Span};
use syn::{LitStr, ext::IdentExt as _};

use crate::{case::Case, errors::Errors};

/// The names so far.
pub(super) struct WireNames {
    /// The kind of the named items.
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

    /// Adds the serialized name of a field or variant.
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
            errors.push(at, "a serialized name cannot be empty");
        }
        if self.used.contains(&name) {
            let message = format!(
                "two {} have the same serialized name `{name}`; `rename` one of them",
                self.item_kind
            );
            errors.push(at, message);
        }
        self.used.push(name.clone());
        name
    }
}

//! Metadata of a protected resource: RFC 9728.

use super::JsonDocument;

/// The metadata of a protected resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The resource, verbatim: this is what tokens are requested for.
    pub resource: String,
    /// The issuers of its authorization servers.
    pub authorization_servers: Vec<String>,
    /// The supported scopes, if declared.
    pub scopes_supported: Option<Vec<String>>,
    /// Whether tokens must be bound to a key.
    pub dpop_bound_access_tokens_required: bool,
    /// The whole document, verbatim.
    pub document: JsonDocument,
}

impl ResourceMetadata {
    /// Reads a document; `None` if it names no resource.
    #[must_use]
    pub fn from_document(document: JsonDocument) -> Option<Self> {
        let servers = document.strings("authorization_servers");
        Some(Self {
            resource: document.string("resource")?.to_owned(),
            authorization_servers: servers.unwrap_or_default(),
            scopes_supported: document.strings("scopes_supported"),
            dpop_bound_access_tokens_required: document.flag("dpop_bound_access_tokens_required"),
            document,
        })
    }
}

//! What a protected resource says of itself: RFC 9728.

use super::JsonDocument;

/// The metadata of a protected resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The resource, word by word: this is what tokens are asked for.
    pub resource: String,
    /// The authorization servers that guard it, by their issuers.
    pub authorization_servers: Vec<String>,
    /// The scopes that it knows, where it says.
    pub scopes_supported: Option<Vec<String>>,
    /// Whether tokens must be bound to a key of ours.
    pub dpop_bound_access_tokens_required: bool,
    /// All of it, as it came.
    pub document: JsonDocument,
}

impl ResourceMetadata {
    /// Reads a document; `None` where it names no resource.
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

//! Manifests: descriptions of a server for those that have not connected yet.

use serde::Serialize;

use super::{Service, capability::ClientCapability, tool::Tool};
use crate::proto::{
    jsonrpc::RawJson,
    model::{self, Adapt as _, Members, Meta, WireFeatures},
    revision::Revision,
};

/// The `_meta` key of the capabilities that a tool requires.
const REQUIRES: &str = "dev.bowline/requires";
/// The `_meta` key of the scopes that a tool requires.
const SCOPES: &str = "dev.bowline/scopes";
/// The `_meta` key of the forms that a tool may show.
const ELICITS: &str = "dev.bowline/elicits";

/// A description of a server, as served at `/.well-known/mcp.json`, for hosts
/// and code generators without a connection. It serializes to JSON with
/// `serde`, and is the same for the same server.
///
/// It contains all tools, including those that a client only sees if it has the
/// capabilities they require. In `_meta`, `dev.bowline/requires` lists these
/// capabilities, `dev.bowline/scopes` the scopes that a caller's token must
/// have, and `dev.bowline/elicits` the forms that a tool may show, by key.
///
/// ```
/// use bowline::server::{ClientCapability, Server, Tool};
///
/// let ask = Tool::new("ask")
///     .description("Asks")
///     .requires([ClientCapability::Elicitation])
///     .no_input()
///     .handler(async |_| Ok("asked"));
/// let service = Server::new("asker", "1.0.0").tool(ask).build().unwrap();
///
/// let manifest = serde_json::to_value(service.manifest()).unwrap();
/// assert_eq!(manifest["server"]["name"], "asker");
/// assert_eq!(manifest["mcp"]["endpoint"], "/mcp");
/// assert_eq!(manifest["tools"][0]["_meta"]["dev.bowline/requires"][0], "elicitation.form");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The version of this format.
    pub version: &'static str,
    /// The identity of the server.
    pub server: ManifestServer,
    /// How to reach the server.
    pub mcp: ManifestEndpoint,
    /// The tools, in order.
    pub tools: Vec<model::Tool>,
}

/// The identity of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ManifestServer {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How to reach a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ManifestEndpoint {
    /// The path, or the complete URL.
    pub endpoint: String,
    /// The newest supported revision.
    pub protocol_version: &'static str,
    /// All supported revisions, the newest first.
    pub protocol_versions: Vec<&'static str>,
}

impl Manifest {
    /// Sets another endpoint than `/mcp`.
    #[must_use]
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.mcp.endpoint = endpoint.into();
        self
    }
}

impl<S: Send + Sync + 'static> Service<S> {
    /// Returns a manifest of what the server offers now.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        let config = &self.core.config;
        let mut revisions = config.revisions.clone();
        revisions.sort_unstable();
        revisions.dedup();
        revisions.reverse();
        let newest = revisions.first().copied().unwrap_or(Revision::LATEST);
        let features = &newest.rules().features;
        let identity = &config.server_info;
        Manifest {
            version: "1.0",
            server: ManifestServer {
                name: identity.name.clone(),
                version: identity.version.clone(),
                description: identity.description.clone(),
            },
            mcp: ManifestEndpoint {
                endpoint: "/mcp".to_owned(),
                protocol_version: newest.as_str(),
                protocol_versions: revisions.into_iter().map(Revision::as_str).collect(),
            },
            tools: self
                .tools()
                .iter()
                .map(|tool| manifest_tool(tool, features))
                .collect(),
        }
    }
}

/// Returns a tool's definition with the additional `_meta` of manifests.
fn manifest_tool<S>(tool: &Tool<S>, features: &WireFeatures) -> model::Tool {
    let mut entry = tool.definition().clone();
    entry.adapt(features);
    let requires: Vec<_> = tool
        .required_capabilities()
        .map(ClientCapability::path)
        .collect();
    if !requires.is_empty() {
        set_meta(&mut entry, REQUIRES, &requires);
    }
    let scopes: Vec<_> = tool.scopes().collect();
    if !scopes.is_empty() {
        set_meta(&mut entry, SCOPES, &scopes);
    }
    let forms = tool.shared.elicits.iter().map(|form| {
        let mut schema = form.schema.clone();
        schema.adapt(features);
        (form.key, schema)
    });
    let forms: Members<_> = forms.collect();
    if !forms.is_empty() {
        set_meta(&mut entry, ELICITS, &forms);
    }
    entry
}

fn set_meta<T: Serialize>(tool: &mut model::Tool, key: &'static str, value: &T) {
    if let Ok(value) = RawJson::encode(value) {
        let meta = tool.meta.get_or_insert_with(Meta::new);
        meta.members_mut().insert(key, value);
    }
}

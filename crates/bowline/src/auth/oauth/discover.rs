//! Discovery of a server's authorization server.

use super::context::AuthContext;
use crate::{
    auth::{AuthError, AuthErrorKind},
    proto::auth::{
        ChallengeSummary, EndpointBase, JsonDocument, ResourceMetadata, ServerMetadata,
        resource_covers, well_known,
    },
};

/// The result of discovery.
pub(super) struct Discovery {
    /// The resource that tokens are requested for, verbatim.
    pub(super) resource: String,
    /// The protected resource metadata of the server, if any.
    pub(super) metadata: Option<ResourceMetadata>,
    /// The authorization server.
    pub(super) server: ServerMetadata,
}

impl AuthContext {
    /// Reads the metadata of the server and of its authorization server.
    pub(super) async fn discover(
        &self,
        challenge: &ChallengeSummary,
    ) -> Result<Discovery, AuthError> {
        if let Some(configured) = self.configured_discovery() {
            return Ok(configured);
        }
        let Some(metadata) = self.resource_metadata(challenge).await? else {
            return self.legacy_discovery().await;
        };
        let issuer = self.choose_issuer(&metadata).await?;
        let Some(server) = self.server_metadata(&issuer).await? else {
            return Err(metadata_error(
                "the authorization server publishes no metadata",
            ));
        };
        Ok(Discovery {
            resource: metadata.resource.clone(),
            metadata: Some(metadata),
            server,
        })
    }

    /// Fetches the metadata of the resource from the URL in the challenge, or
    /// else from the well-known URLs. Returns `None` if there is no metadata at
    /// all.
    pub(super) async fn resource_metadata(
        &self,
        challenge: &ChallengeSummary,
    ) -> Result<Option<ResourceMetadata>, AuthError> {
        let url = self.account.server.as_str();
        let (from_challenge, candidates) = match &challenge.resource_metadata {
            Some(candidate) => (true, vec![candidate.clone()]),
            None => (false, well_known::resource_metadata_urls(url)),
        };
        for candidate in candidates {
            let document = self.fetch_document(&candidate).await?;
            let Some(metadata) = document.and_then(ResourceMetadata::from_document) else {
                continue;
            };
            if !resource_covers(&metadata.resource, url) {
                return Err(metadata_error(
                    "the protected resource metadata is for another server",
                ));
            }
            return Ok(Some(metadata));
        }
        match from_challenge {
            true => Err(metadata_error(
                "the protected resource metadata was not found at the URL that the server named",
            )),
            false => Ok(None),
        }
    }

    /// Chooses one of the authorization servers of a resource: the one that
    /// issued our client id or tokens, if it is listed, or else the first.
    async fn choose_issuer(&self, metadata: &ResourceMetadata) -> Result<String, AuthError> {
        let servers = &metadata.authorization_servers;
        let last_issuer = self.server_record().await?.map(|record| record.issuer);
        let known = self.settings.issuer.iter().chain(last_issuer.iter());
        let known = known.into_iter().find(|issuer| servers.contains(issuer));
        let chosen = known.or(servers.first());
        chosen.cloned().ok_or_else(|| {
            metadata_error("the protected resource metadata names no authorization server")
        })
    }

    /// Fetches the metadata of an authorization server from the first
    /// well-known URL that has some. Its issuer must match.
    pub(super) async fn server_metadata(
        &self,
        issuer: &str,
    ) -> Result<Option<ServerMetadata>, AuthError> {
        for candidate in well_known::server_metadata_urls(issuer) {
            if let Some(document) = self.fetch_document(&candidate).await? {
                return Ok(Some(ServerMetadata::from_document(document, issuer)?));
            }
        }
        Ok(None)
    }

    /// Discovery for the first servers with authorization, which were their own
    /// authorization servers: their metadata is at the root of their origin, or
    /// is assumed.
    pub(super) async fn legacy_discovery(&self) -> Result<Discovery, AuthError> {
        let url = self.account.server.as_str();
        let origin = well_known::origin(url)
            .ok_or_else(|| metadata_error("the server URL has no origin"))?;
        let metadata = self.server_metadata(&origin).await?;
        Ok(Discovery {
            resource: canonical_resource(url),
            metadata: None,
            server: metadata
                .unwrap_or_else(|| ServerMetadata::with_default_endpoints(EndpointBase(&origin))),
        })
    }

    /// Fetches a document, if there is one: refused requests and web pages
    /// count as absent.
    async fn fetch_document(&self, candidate: &str) -> Result<Option<JsonDocument>, AuthError> {
        let response = self.fetch.get(candidate).await?;
        match response.status().as_u16() {
            200..=299 => Ok(JsonDocument::parse(response.body()).ok()),
            300..=499 => Ok(None),
            status => {
                let reason = format!("metadata discovery failed with HTTP {status}");
                Err(AuthError::new(AuthErrorKind::Unreachable, reason))
            }
        }
    }
}

/// Returns a server URL as a resource identifier: without the slash of an empty
/// path.
pub(super) fn canonical_resource(url: &str) -> String {
    match well_known::origin(url) {
        Some(origin) if url.len() == origin.len() + 1 => origin,
        _ => url.to_owned(),
    }
}

fn metadata_error(reason: &str) -> AuthError {
    AuthError::new(AuthErrorKind::Metadata, reason)
}

//! Finding out who guards a server.

use super::context::AuthContext;
use crate::{
    auth::{AuthError, AuthErrorKind},
    proto::auth::{
        ChallengeSummary, EndpointBase, JsonDocument, ResourceMetadata, ServerMetadata,
        resource_covers, well_known,
    },
};

/// What was found.
pub(super) struct Discovery {
    /// What tokens are asked for: the resource, word by word.
    pub(super) resource: String,
    /// What the server says of itself, if anything.
    pub(super) metadata: Option<ResourceMetadata>,
    /// The authorization server.
    pub(super) server: ServerMetadata,
}

impl AuthContext {
    /// Reads what the server says of itself, and what its authorization server
    /// says of itself.
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
                "the authorization server says nothing of itself",
            ));
        };
        Ok(Discovery {
            resource: metadata.resource.clone(),
            metadata: Some(metadata),
            server,
        })
    }

    /// The metadata of the resource: where the challenge says, or else where it
    /// is usual. None where there is none at all.
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
                    "the metadata that was found is of another server",
                ));
            }
            return Ok(Some(metadata));
        }
        match from_challenge {
            true => Err(metadata_error(
                "the server's metadata is not where the server says",
            )),
            false => Ok(None),
        }
    }

    /// One of the authorization servers of a resource: the one that knows us,
    /// if it is among them, or else the first.
    async fn choose_issuer(&self, metadata: &ResourceMetadata) -> Result<String, AuthError> {
        let servers = &metadata.authorization_servers;
        let last_issuer = self.server_record().await?.map(|record| record.issuer);
        let known = self.settings.issuer.iter().chain(last_issuer.iter());
        let known = known.into_iter().find(|issuer| servers.contains(issuer));
        let chosen = known.or(servers.first());
        chosen
            .cloned()
            .ok_or_else(|| metadata_error("the server's metadata names no authorization server"))
    }

    /// The metadata of an authorization server, from the first place that has
    /// some. It must speak for that issuer.
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

    /// The first servers with authorization were their own guards: what these
    /// say of themselves is at the root of their origin, or is assumed.
    pub(super) async fn legacy_discovery(&self) -> Result<Discovery, AuthError> {
        let url = self.account.server.as_str();
        let origin = well_known::origin(url)
            .ok_or_else(|| metadata_error("the URL of the server has no origin"))?;
        let metadata = self.server_metadata(&origin).await?;
        Ok(Discovery {
            resource: canonical_resource(url),
            metadata: None,
            server: metadata
                .unwrap_or_else(|| ServerMetadata::with_default_endpoints(EndpointBase(&origin))),
        })
    }

    /// A document, if there is one at this place: what is refused is not there,
    /// and a page is no document.
    async fn fetch_document(&self, candidate: &str) -> Result<Option<JsonDocument>, AuthError> {
        let response = self.fetch.get(candidate).await?;
        match response.status {
            200..=299 => Ok(JsonDocument::parse(&response.body).ok()),
            300..=499 => Ok(None),
            status => {
                let reason = format!("discovery was answered with HTTP {status}");
                Err(AuthError::new(AuthErrorKind::Unreachable, reason))
            }
        }
    }
}

/// The URL of a server as a resource: without the slash that stands for no path.
pub(super) fn canonical_resource(url: &str) -> String {
    match well_known::origin(url) {
        Some(origin) if url.len() == origin.len() + 1 => origin,
        _ => url.to_owned(),
    }
}

fn metadata_error(reason: &str) -> AuthError {
    AuthError::new(AuthErrorKind::Metadata, reason)
}

//! Finding out who guards a server.

use super::work::Work;
use crate::{
    auth::{AuthError, AuthErrorKind},
    proto::auth::{Demand, Document, EndpointsAt, ResourceMetadata, ServerMetadata, fits, places},
};

/// What was found.
pub(super) struct Found {
    /// What tokens are asked for: the resource, word by word.
    pub(super) resource: String,
    /// What the server says of itself, if anything.
    pub(super) metadata: Option<ResourceMetadata>,
    /// The authorization server.
    pub(super) server: ServerMetadata,
}

impl Work {
    /// Reads what the server says of itself, and what its authorization server
    /// says of itself.
    pub(super) async fn discover(&self, demand: &Demand) -> Result<Found, AuthError> {
        if let Some(told) = self.told() {
            return Ok(told);
        }
        let Some(metadata) = self.resource_metadata(demand).await? else {
            return self.first_servers().await;
        };
        let issuer = self.choose(&metadata).await?;
        let Some(server) = self.server_metadata(&issuer).await? else {
            return Err(wrong("the authorization server says nothing of itself"));
        };
        Ok(Found {
            resource: metadata.resource.clone(),
            metadata: Some(metadata),
            server,
        })
    }

    /// The metadata of the resource: where the challenge says, or else where it
    /// is usual. None where there is none at all.
    pub(super) async fn resource_metadata(
        &self,
        demand: &Demand,
    ) -> Result<Option<ResourceMetadata>, AuthError> {
        let url = self.account.server.as_str();
        let (told, places) = match &demand.resource_metadata {
            Some(place) => (true, vec![place.clone()]),
            None => (false, places::of_resource(url)),
        };
        for place in places {
            let document = self.document(&place).await?;
            let Some(metadata) = document.and_then(ResourceMetadata::read) else {
                continue;
            };
            if !fits(&metadata.resource, url) {
                return Err(wrong("the metadata that was found is of another server"));
            }
            return Ok(Some(metadata));
        }
        match told {
            true => Err(wrong("the server's metadata is not where the server says")),
            false => Ok(None),
        }
    }

    /// One of the authorization servers of a resource: the one that knows us,
    /// if it is among them, or else the first.
    async fn choose(&self, metadata: &ResourceMetadata) -> Result<String, AuthError> {
        let servers = &metadata.authorization_servers;
        let last = self.server_record().await?.map(|record| record.issuer);
        let known = self.settings.issuer.iter().chain(last.iter());
        let known = known.into_iter().find(|issuer| servers.contains(issuer));
        let chosen = known.or(servers.first());
        chosen
            .cloned()
            .ok_or_else(|| wrong("the server's metadata names no authorization server"))
    }

    /// The metadata of an authorization server, from the first place that has
    /// some. It must speak for that issuer.
    pub(super) async fn server_metadata(
        &self,
        issuer: &str,
    ) -> Result<Option<ServerMetadata>, AuthError> {
        for place in places::of_server(issuer) {
            if let Some(document) = self.document(&place).await? {
                return Ok(Some(ServerMetadata::read(document, issuer)?));
            }
        }
        Ok(None)
    }

    /// The first servers with authorization were their own guards: what these
    /// say of themselves is at the root of their origin, or is assumed.
    pub(super) async fn first_servers(&self) -> Result<Found, AuthError> {
        let url = self.account.server.as_str();
        let origin =
            places::origin(url).ok_or_else(|| wrong("the URL of the server has no origin"))?;
        let said = self.server_metadata(&origin).await?;
        Ok(Found {
            resource: canonical(url),
            metadata: None,
            server: said.unwrap_or_else(|| ServerMetadata::assumed(EndpointsAt(&origin))),
        })
    }

    /// A document, if there is one at this place: what is refused is not there,
    /// and a page is no document.
    async fn document(&self, place: &str) -> Result<Option<Document>, AuthError> {
        let response = self.fetch.get(place).await?;
        match response.status {
            200..=299 => Ok(Document::parse(&response.body).ok()),
            300..=499 => Ok(None),
            status => {
                let why = format!("discovery was answered with HTTP {status}");
                Err(AuthError::new(AuthErrorKind::Unreachable, why))
            }
        }
    }
}

/// The URL of a server as a resource: without the slash that stands for no path.
pub(super) fn canonical(url: &str) -> String {
    match places::origin(url) {
        Some(origin) if url.len() == origin.len() + 1 => origin,
        _ => url.to_owned(),
    }
}

fn wrong(why: &str) -> AuthError {
    AuthError::new(AuthErrorKind::Metadata, why)
}

//! The client's identity at an authorization server.

use reqwest::header::HeaderMap;

use super::{account::now, context::AuthContext, discover::Discovery, record::StoredClient};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes},
    proto::auth::{
        ClientIdSource, JsonDocument, OAuthError, RegisteredClient, RegistrationRequest,
        choose_client_id_source,
    },
};

/// The client's identity at an authorization server.
pub(super) struct Identity {
    pub(super) registered: RegisteredClient,
    /// Whether it was registered dynamically, and could be again.
    pub(super) self_registered: bool,
    /// Whether the registration is from the store, so the server may have
    /// forgotten it.
    pub(super) from_store: bool,
}

impl Identity {
    /// Creates an identity whose client id is the URL of a client metadata
    /// document.
    fn from_metadata_document(url: String) -> Self {
        Self {
            registered: RegisteredClient::new(url, None),
            self_registered: false,
            from_store: false,
        }
    }
}

impl AuthContext {
    /// Returns the preconfigured client for this issuer, if there is one. A
    /// client id is never sent to an issuer that it is not meant for.
    pub(super) async fn configured_client(
        &self,
        issuer: &str,
    ) -> Result<Option<RegisteredClient>, AuthError> {
        let Some(configured) = &self.settings.client else {
            return Ok(None);
        };
        let matches_issuer = match &self.settings.issuer {
            Some(configured) => configured == issuer,
            None => match self.server_record().await? {
                Some(record) if record.client_id == configured.id => record.issuer == issuer,
                _ => true,
            },
        };
        let registered = RegisteredClient::new(configured.id.clone(), configured.secret.clone());
        Ok(matches_issuer.then_some(registered))
    }

    /// Determines the client's identity at the authorization server, for a user
    /// who returns to `redirect_uri`.
    pub(super) async fn identify(
        &self,
        discovery: &Discovery,
        redirect_uri: &str,
        scopes: &Scopes,
    ) -> Result<Identity, AuthError> {
        let issuer = &discovery.server.issuer;
        if let Some(registered) = self.configured_client(issuer).await? {
            return Ok(Identity {
                registered,
                self_registered: false,
                from_store: false,
            });
        }
        let metadata_url = self.settings.metadata_url.as_deref();
        if self.settings.client.is_some() {
            // A client id for another server is a mistake that should be
            // reported, unless there is a metadata document, which is valid
            // everywhere.
            return match choose_client_id_source(false, metadata_url, &discovery.server) {
                ClientIdSource::MetadataDocument(url) => Ok(Identity::from_metadata_document(url)),
                _ => Err(no_client_id(
                    "the configured client id is for another authorization server",
                )),
            };
        }
        let stored = self.stored_client(issuer).await?.filter(|stored| {
            stored.redirect_uri == redirect_uri && stored.registered.is_valid_at(now())
        });
        match (
            choose_client_id_source(stored.is_some(), metadata_url, &discovery.server),
            stored,
        ) {
            (ClientIdSource::Known, Some(stored)) => Ok(Identity {
                registered: stored.registered,
                self_registered: true,
                from_store: true,
            }),
            (ClientIdSource::MetadataDocument(url), _) => Ok(Identity::from_metadata_document(url)),
            (ClientIdSource::Register(endpoint), _) => {
                let registered = self
                    .register(&endpoint, discovery, redirect_uri, scopes)
                    .await?;
                Ok(Identity {
                    registered,
                    self_registered: true,
                    from_store: false,
                })
            }
            _ => Err(no_client_id(
                "the authorization server does not support dynamic registration; \
                 configure a client id",
            )),
        }
    }

    async fn register(
        &self,
        endpoint: &str,
        discovery: &Discovery,
        redirect_uri: &str,
        scopes: &Scopes,
    ) -> Result<RegisteredClient, AuthError> {
        let mut registration = RegistrationRequest::new(&self.settings.name, redirect_uri);
        registration.application_type = self.settings.application_type;
        // A server may limit us to the registered scopes, so register all that
        // may ever be needed.
        let listed = discovery
            .metadata
            .as_ref()
            .and_then(|resource| resource.scopes_supported.as_ref());
        let listed = listed.into_iter().flatten().map(String::as_str);
        registration.scope = scopes.union(&listed.collect());
        let registration = registration.for_server(&discovery.server);
        let body = registration.to_json();
        let response = self
            .fetch
            .post_json(endpoint, HeaderMap::new(), body)
            .await?;
        let document = JsonDocument::parse(response.body()).unwrap_or_default();
        if let Some(error) = OAuthError::from_document(&document) {
            return Err(AuthError::refused(
                "the client registration endpoint",
                error,
            ));
        }
        let registered =
            RegisteredClient::from_document(&document).filter(|_| response.status().as_u16() < 300);
        let Some(registered) = registered else {
            let reason = format!(
                "client registration failed with HTTP {}",
                response.status().as_u16()
            );
            return Err(AuthError::new(AuthErrorKind::NoClientId, reason));
        };
        let stored = StoredClient {
            registered,
            redirect_uri: redirect_uri.to_owned(),
        };
        self.store_client(&discovery.server.issuer, &stored).await?;
        Ok(stored.registered)
    }
}

fn no_client_id(reason: &str) -> AuthError {
    AuthError::new(AuthErrorKind::NoClientId, reason)
}

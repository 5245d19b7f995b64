//! Under which name we go to an authorization server.

use reqwest::header::HeaderMap;

use super::{account::now, discover::Found, record::KnownClient, work::Work};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes},
    proto::auth::{Document, Identification, OAuthError, Registered, Registration, identify},
};

/// Who we are to an authorization server.
pub(super) struct Identity {
    pub(super) registered: Registered,
    /// Whether we registered ourselves, and could do so again.
    pub(super) by_itself: bool,
    /// Whether that was some other time, so that it may be forgotten there.
    pub(super) kept: bool,
}

impl Work {
    /// The client that was agreed on with this issuer, if there is one. An id
    /// never goes to an issuer that it was not meant for.
    pub(super) async fn preset(&self, issuer: &str) -> Result<Option<Registered>, AuthError> {
        let Some(preset) = &self.settings.client else {
            return Ok(None);
        };
        let meant = match &self.settings.issuer {
            Some(meant) => meant == issuer,
            None => match self.server_record().await? {
                Some(record) if record.client_id == preset.id => record.issuer == issuer,
                _ => true,
            },
        };
        let registered = Registered::new(preset.id.clone(), preset.secret.clone());
        Ok(meant.then_some(registered))
    }

    /// A name at the authorization server, for a user who comes back to
    /// `redirect_uri`.
    pub(super) async fn identify(
        &self,
        found: &Found,
        redirect_uri: &str,
        scopes: &Scopes,
    ) -> Result<Identity, AuthError> {
        let issuer = &found.server.issuer;
        if let Some(registered) = self.preset(issuer).await? {
            return Ok(Identity {
                registered,
                by_itself: false,
                kept: false,
            });
        }
        let metadata_url = self.settings.metadata_url.as_deref();
        if self.settings.client.is_some() {
            // An id for another server is a mistake that somebody should hear
            // of, unless there is one that is good everywhere.
            return match identify(false, metadata_url, &found.server) {
                Identification::MetadataDocument(url) => Ok(Identity {
                    registered: Registered::new(url, None),
                    by_itself: false,
                    kept: false,
                }),
                _ => Err(no_id("the client id is for another authorization server")),
            };
        }
        let known = self.known_client(issuer).await?.filter(|known| {
            known.redirect_uri == redirect_uri && known.registered.is_good_at(now())
        });
        match (
            identify(known.is_some(), metadata_url, &found.server),
            known,
        ) {
            (Identification::Known, Some(known)) => Ok(Identity {
                registered: known.registered,
                by_itself: true,
                kept: true,
            }),
            (Identification::MetadataDocument(url), _) => Ok(Identity {
                registered: Registered::new(url, None),
                by_itself: false,
                kept: false,
            }),
            (Identification::Register(endpoint), _) => {
                let registered = self
                    .register(&endpoint, found, redirect_uri, scopes)
                    .await?;
                Ok(Identity {
                    registered,
                    by_itself: true,
                    kept: false,
                })
            }
            _ => Err(no_id(
                "the authorization server wants a client id that it has given out before",
            )),
        }
    }

    async fn register(
        &self,
        endpoint: &str,
        found: &Found,
        redirect_uri: &str,
        scopes: &Scopes,
    ) -> Result<Registered, AuthError> {
        let mut registration = Registration::new(&self.settings.name, redirect_uri);
        registration.application_type = self.settings.application_type;
        // A server may hold us to it, so all that we may ever want.
        let listed = found
            .metadata
            .as_ref()
            .and_then(|said| said.scopes_supported.as_ref());
        let listed = listed.into_iter().flatten().map(String::as_str);
        registration.scope = scopes.union(&listed.collect());
        let registration = registration.for_server(&found.server);
        let body = registration.to_json();
        let response = self
            .fetch
            .post_json(endpoint, HeaderMap::new(), body)
            .await?;
        let document = Document::parse(&response.body).unwrap_or_default();
        if let Some(error) = OAuthError::read(&document) {
            return Err(AuthError::refused("the registration of this client", error));
        }
        let registered = Registered::read(&document).filter(|_| response.status < 300);
        let Some(registered) = registered else {
            let why = format!("registration was answered with HTTP {}", response.status);
            return Err(AuthError::new(AuthErrorKind::NoClientId, why));
        };
        let known = KnownClient {
            registered,
            redirect_uri: redirect_uri.to_owned(),
        };
        self.keep_client(&found.server.issuer, &known).await?;
        Ok(known.registered)
    }
}

fn no_id(why: &str) -> AuthError {
    AuthError::new(AuthErrorKind::NoClientId, why)
}

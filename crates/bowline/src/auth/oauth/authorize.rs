//! The authorization code flow: sending the user to the authorization server.

use std::sync::Arc;

use super::{
    context::AuthContext, discover::Discovery, dpop::DpopKey, exchange::TokenRequest,
    identify::Identity,
};
use crate::{
    auth::{AuthError, Scopes, random, user::AuthorizationSession},
    proto::auth::{
        AuthorizationRequest, Grant, JsonDocument, OAuthError, RegisteredClient, Tokens,
    },
};

impl AuthContext {
    /// Obtains tokens on behalf of the user.
    pub(super) async fn grant_by_user(
        &self,
        discovery: &Discovery,
        scopes: &Scopes,
        key: Option<&Arc<DpopKey>>,
    ) -> Result<(RegisteredClient, Tokens), AuthError> {
        let user = self.settings.user_agent.as_ref().ok_or_else(|| {
            AuthError::user(
                "the server requires a user to sign in, and no user agent is configured \
                 (see `OAuth::user_agent`)",
            )
        })?;
        // Check the endpoint before involving the user.
        let endpoint = discovery.server.authorization_endpoint()?;
        self.fetch.check(endpoint)?;
        self.fetch.check(discovery.server.token_endpoint()?)?;
        let mut may_retry = true;
        loop {
            let last_redirect_uri = self.stored_client(&discovery.server.issuer).await?;
            let last_redirect_uri = last_redirect_uri.map(|known| known.redirect_uri);
            let session = user.prepare(last_redirect_uri.as_deref()).await?;
            let identity = self
                .identify(discovery, session.redirect_uri(), scopes)
                .await?;
            let result = self
                .authorize_user(session, &identity, discovery, scopes, key)
                .await;
            match result {
                // It has forgotten our registration.
                Err(error)
                    if is_unknown_client(&error) && identity.self_registered && may_retry =>
                {
                    self.forget_client(&discovery.server.issuer).await?;
                    may_retry = false;
                }
                result => return result.map(|tokens| (identity.registered, tokens)),
            }
        }
    }

    async fn authorize_user(
        &self,
        session: Box<dyn AuthorizationSession>,
        identity: &Identity,
        discovery: &Discovery,
        scopes: &Scopes,
        key: Option<&Arc<DpopKey>>,
    ) -> Result<Tokens, AuthError> {
        let registered = &identity.registered;
        let (state, pkce) = (random::random_token()?, random::Pkce::new()?);
        let redirect_uri = session.redirect_uri().to_owned();
        let thumbprint = key.map(|key| key.thumbprint());
        let request = AuthorizationRequest {
            client_id: &registered.client_id,
            redirect_uri: &redirect_uri,
            state: &state,
            code_challenge: &pkce.challenge,
            resource: Some(&discovery.resource),
            scopes,
            dpop_jkt: thumbprint.as_deref(),
        };
        let url = request.url(discovery.server.authorization_endpoint()?);
        if identity.from_store && !self.has_refresh_token() {
            self.check_client_known(&request, discovery).await?;
        }
        let redirect = session.authorize(&url).await?;
        let code = redirect.code(&state, &discovery.server)?;
        let grant = Grant::AuthorizationCode {
            code: &code,
            redirect_uri: &redirect_uri,
            code_verifier: &pkce.verifier,
        };
        let token_request = TokenRequest {
            server: &discovery.server,
            resource: &discovery.resource,
            registered,
            scopes,
            key: key.map(Arc::as_ref),
        };
        self.exchange(&token_request, &grant).await
    }

    /// Returns whether the tokens can be renewed. If the authorization server
    /// had forgotten our registration, renewing would have failed.
    fn has_refresh_token(&self) -> bool {
        let active = self.account.tokens();
        active.is_some_and(|active| active.refresh_token.is_some())
    }

    /// Checks whether an authorization server still knows our registration. A
    /// server that does not would report it only to the user, in the browser,
    /// and the redirect would never arrive. Nothing from this request is used
    /// in the user's.
    async fn check_client_known(
        &self,
        request: &AuthorizationRequest<'_>,
        discovery: &Discovery,
    ) -> Result<(), AuthError> {
        let (state, pkce) = (random::random_token()?, random::Pkce::new()?);
        let request = AuthorizationRequest {
            state: &state,
            code_challenge: &pkce.challenge,
            ..*request
        };
        let url = request.url(discovery.server.authorization_endpoint()?);
        // If it cannot be reached or shows a page, leave it to the user.
        let Ok(response) = self.fetch.get_without_redirects(&url).await else {
            return Ok(());
        };
        let document = JsonDocument::parse(response.body()).unwrap_or_default();
        let error =
            OAuthError::from_document(&document).filter(|_| response.status().as_u16() >= 400);
        let error = error.map(|error| AuthError::refused("the authorization server", error));
        error.filter(is_unknown_client).map_or(Ok(()), Err)
    }
}

/// Returns whether an authorization server does not, or no longer, know our
/// client.
fn is_unknown_client(error: &AuthError) -> bool {
    error.has_code("invalid_client") || error.has_code("unauthorized_client")
}

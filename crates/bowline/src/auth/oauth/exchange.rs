//! Token requests: exchanging a grant for tokens.

use bytes::Bytes;
use http::Response;

use super::{context::AuthContext, dpop::DpopKey};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes},
    proto::auth::{
        ClientAuth, Grant, OAuthError, RegisteredClient, ServerMetadata, TokenResponse, Tokens,
        parse_token_response,
    },
};

/// The parameters of a token request, apart from its grant.
pub(super) struct TokenRequest<'a> {
    pub(super) server: &'a ServerMetadata,
    pub(super) resource: &'a str,
    pub(super) registered: &'a RegisteredClient,
    pub(super) scopes: &'a Scopes,
    pub(super) key: Option<&'a DpopKey>,
}

impl AuthContext {
    /// Exchanges a grant for tokens at the authorization server.
    pub(super) async fn exchange(
        &self,
        token_request: &TokenRequest<'_>,
        grant: &Grant<'_>,
    ) -> Result<Tokens, AuthError> {
        let auth = self.client_auth(token_request.registered, token_request.server)?;
        let mut form = grant.form_fields(Some(token_request.resource), token_request.scopes);
        form.extend(auth.form_fields());
        let endpoint = token_request.server.token_endpoint()?;
        let response = self
            .post_grant(endpoint, &form, &auth, token_request.key)
            .await?;
        parse_tokens(&response).map_err(|error| without_echoed_secrets(error, &form))
    }

    /// Posts a form to a token endpoint, with a proof if there is a key. If the
    /// server requires a nonce in the proof, the request is repeated with it.
    pub(super) async fn post_grant(
        &self,
        endpoint: &str,
        form: &[(&'static str, String)],
        auth: &ClientAuth,
        key: Option<&DpopKey>,
    ) -> Result<Response<Bytes>, AuthError> {
        let authorization = auth.authorization_header();
        let post = async || {
            let proof = match key {
                Some(key) => Some(self.proof_for_endpoint(key, endpoint)?),
                None => None,
            };
            let posted =
                self.fetch
                    .post_form(endpoint, form, authorization.as_ref(), proof.as_deref());
            posted.await
        };
        let response = post().await?;
        if key.is_none() || !self.record_nonce(endpoint, &response) {
            return Ok(response);
        }
        match parse_token_response(response.status().as_u16(), response.body()) {
            TokenResponse::Error(error) if error.code() == "use_dpop_nonce" => {
                let response = post().await?;
                self.record_nonce(endpoint, &response);
                Ok(response)
            }
            _ => Ok(response),
        }
    }
}

/// Drops the server's error text if it repeats a secret that we sent.
fn without_echoed_secrets(error: AuthError, form: &[(&'static str, String)]) -> AuthError {
    const PUBLIC_FIELDS: [&str; 5] = [
        "client_id",
        "grant_type",
        "redirect_uri",
        "resource",
        "scope",
    ];
    let secrets = form
        .iter()
        .filter(|(name, _)| !PUBLIC_FIELDS.contains(name));
    let contains_secret = |message: &str| {
        let mut secrets = secrets.clone();
        secrets.any(|(_, value)| !value.is_empty() && message.contains(value.as_str()))
    };
    match error.oauth_error() {
        Some(oauth_error) if contains_secret(oauth_error.code()) => {
            AuthError::new(AuthErrorKind::Refused, "the authorization server refused")
        }
        Some(oauth_error) if contains_secret(&error.to_string()) => {
            let oauth_error = OAuthError::new(oauth_error.code(), None);
            AuthError::refused("the authorization server", oauth_error)
        }
        _ => error,
    }
}

/// Parses the tokens in a response.
pub(super) fn parse_tokens(response: &Response<Bytes>) -> Result<Tokens, AuthError> {
    match parse_token_response(response.status().as_u16(), response.body()) {
        TokenResponse::Issued(tokens) => Ok(*tokens),
        TokenResponse::Error(error) => Err(AuthError::refused("the authorization server", error)),
        TokenResponse::Invalid => {
            let reason = format!(
                "the token endpoint responded with HTTP {}",
                response.status().as_u16()
            );
            Err(AuthError::new(AuthErrorKind::Unreachable, reason))
        }
    }
}

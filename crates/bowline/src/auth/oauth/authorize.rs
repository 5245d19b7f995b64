//! Sending the user to the authorization server, and what they bring back.

use std::sync::Arc;

use super::{discover::Found, exchange::Give, identify::Identity, proof::ProofKey, work::Work};
use crate::{
    auth::{AuthError, Scopes, random, user::Visit},
    proto::auth::{AuthorizationRequest, Document, Grant, OAuthError, Registered, Tokens},
};

impl Work {
    /// Tokens in the name of the user.
    pub(super) async fn by_user(
        &self,
        found: &Found,
        scopes: &Scopes,
        key: Option<&Arc<ProofKey>>,
    ) -> Result<(Registered, Tokens), AuthError> {
        let user = self.settings.user.as_ref().ok_or_else(|| {
            AuthError::user("the server wants a user to sign in, and there is none")
        })?;
        // What cannot come to a good end does not begin.
        let endpoint = found.server.code_endpoint()?;
        self.fetch.vet(endpoint)?;
        self.fetch.vet(found.server.token_endpoint()?)?;
        let mut again = true;
        loop {
            let last = self.known_client(&found.server.issuer).await?;
            let last = last.map(|known| known.redirect_uri);
            let visit = user.prepare(last.as_deref()).await?;
            let identity = self.identify(found, visit.redirect_uri(), scopes).await?;
            let done = self.visit(visit, &identity, found, scopes, key).await;
            match done {
                // It has forgotten a registration of ours.
                Err(error) if is_unknown(&error) && identity.by_itself && again => {
                    self.forget_client(&found.server.issuer).await?;
                    again = false;
                }
                done => return done.map(|tokens| (identity.registered, tokens)),
            }
        }
    }

    async fn visit(
        &self,
        visit: Box<dyn Visit>,
        identity: &Identity,
        found: &Found,
        scopes: &Scopes,
        key: Option<&Arc<ProofKey>>,
    ) -> Result<Tokens, AuthError> {
        let registered = &identity.registered;
        let (state, proof) = (random::text()?, random::Proof::new()?);
        let redirect_uri = visit.redirect_uri().to_owned();
        let thumbprint = key.map(|key| key.thumbprint());
        let request = AuthorizationRequest {
            client_id: &registered.client_id,
            redirect_uri: &redirect_uri,
            state: &state,
            code_challenge: &proof.challenge,
            resource: Some(&found.resource),
            scopes,
            dpop_jkt: thumbprint.as_deref(),
        };
        let url = request.url(found.server.code_endpoint()?);
        if identity.kept && !self.could_renew() {
            self.look_whether_known(&request, found).await?;
        }
        let redirect = visit.go(&url).await?;
        let code = redirect.code(&state, &found.server)?;
        let grant = Grant::Code {
            code: &code,
            redirect_uri: &redirect_uri,
            verifier: &proof.verifier,
        };
        let give = Give {
            server: &found.server,
            resource: &found.resource,
            registered,
            scopes,
            key: key.map(Arc::as_ref),
        };
        self.exchange(&give, &grant).await
    }

    /// Whether there are tokens that can be renewed. Where the authorization
    /// server had forgotten us, that would have shown.
    fn could_renew(&self) -> bool {
        let held = self.account.held();
        held.is_some_and(|held| held.refresh_token.is_some())
    }

    /// Asks an authorization server that knew us whether it still does. One
    /// that does not says so to the user, in the browser, and nobody would come
    /// back. Nothing of this visit is used in the user's.
    async fn look_whether_known(
        &self,
        request: &AuthorizationRequest<'_>,
        found: &Found,
    ) -> Result<(), AuthError> {
        let (state, proof) = (random::text()?, random::Proof::new()?);
        let request = AuthorizationRequest {
            state: &state,
            code_challenge: &proof.challenge,
            ..*request
        };
        let url = request.url(found.server.code_endpoint()?);
        // If it cannot be asked, or shows a page, the user will see.
        let Ok(answer) = self.fetch.look(&url).await else {
            return Ok(());
        };
        let document = Document::parse(&answer.body).unwrap_or_default();
        let error = OAuthError::read(&document).filter(|_| answer.status >= 400);
        let error = error.map(|error| AuthError::refused("the authorization server", error));
        error.filter(is_unknown).map_or(Ok(()), Err)
    }
}

/// Whether an authorization server does not know us, or no longer.
fn is_unknown(error: &AuthError) -> bool {
    error.is_refusal("invalid_client") || error.is_refusal("unauthorized_client")
}

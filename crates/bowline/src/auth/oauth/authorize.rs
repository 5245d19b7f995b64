//! Sending the user to the authorization server, and what they bring back.

use std::sync::Arc;

use super::{discover::Found, exchange::Give, identify::Identity, proof::ProofKey, work::Work};
use crate::{
    auth::{AuthError, Scopes, random, user::Visit},
    proto::auth::{AuthorizationRequest, Grant, Registered, Tokens},
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
                Err(error) if error.is_refusal("invalid_client") && identity.by_itself && again => {
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
}

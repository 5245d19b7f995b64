//! Telling the authorization server that tokens are of no use any more.

use std::time::Duration;

use super::{account::ActiveTokens, context::AuthContext, record::token_key};
use crate::{auth::AuthError, proto::auth::ChallengeSummary};

/// How long the authorization server may take. Nobody waits for it gladly: the
/// tokens are forgotten here already.
const TIMEOUT: Duration = Duration::from_secs(10);

impl AuthContext {
    /// Forgets the tokens, here and in the store, and has them revoked.
    pub(super) async fn sign_out(self) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        self.load_stored().await?;
        let Some(active) = self.account.tokens() else {
            return Ok(());
        };
        // Another process may be renewing them: what it gets is forgotten, too.
        let lock = self.settings.store.lock(&token_key(&active)).await?;
        self.adopt_stored(Some(&active.access_token)).await?;
        let Some(active) = self.account.tokens() else {
            return Ok(());
        };
        self.discard(&active).await?;
        drop(lock);
        // Who cannot be told, cannot be told; they are forgotten all the same.
        let _ = tokio::time::timeout(TIMEOUT, self.revoke(&active)).await;
        Ok(())
    }

    /// Forgets our registration at the authorization server of this server.
    pub(super) async fn forget_registration(self) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        let issuer = match self.server_record().await? {
            Some(record) => Some(record.issuer),
            // Nobody has signed in so far. Who guards the server, it says.
            None => {
                let challenge = ChallengeSummary::default();
                let discovery = tokio::time::timeout(TIMEOUT, self.discover(&challenge)).await;
                discovery
                    .ok()
                    .and_then(Result::ok)
                    .map(|it| it.server.issuer)
            }
        };
        match issuer {
            Some(issuer) => self.forget_client(&issuer).await,
            None => Ok(()),
        }
    }

    /// Revokes tokens, by RFC 7009, where the authorization server takes that.
    /// With a refresh token goes all that came of it.
    async fn revoke(&self, active: &ActiveTokens) -> Result<(), AuthError> {
        let server = self.issuing_server(active).await?;
        let Some(endpoint) = server.document.string("revocation_endpoint") else {
            return Ok(());
        };
        let (token, token_type_hint) = match &active.refresh_token {
            Some(token) => (token, "refresh_token"),
            None => (&active.access_token, "access_token"),
        };
        let registered = self
            .client_for_tokens(&active.client_id, &server.issuer)
            .await?;
        let auth = self.client_auth(&registered, &server)?;
        let mut form = vec![
            ("token", token.expose().to_owned()),
            ("token_type_hint", token_type_hint.to_owned()),
        ];
        form.extend(auth.form_fields());
        let header = auth.authorization_header();
        let posted = self.fetch.post_form(endpoint, &form, header.as_ref(), None);
        posted.await.map(drop)
    }
}

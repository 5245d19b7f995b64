//! Revocation of tokens at the authorization server.

use std::time::Duration;

use super::{account::ActiveTokens, context::AuthContext, record::token_key};
use crate::{auth::AuthError, proto::auth::ChallengeSummary};

/// Timeout for the revocation. Kept short: the tokens are already removed here.
const TIMEOUT: Duration = Duration::from_secs(10);

impl AuthContext {
    /// Removes the tokens from memory and the store, and revokes them.
    pub(super) async fn sign_out(self) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        self.load_stored().await?;
        let Some(active) = self.account.tokens() else {
            return Ok(());
        };
        // Another process may be renewing them: the tokens it obtains are
        // removed, too.
        let lock = self.settings.store.lock(&token_key(&active)).await?;
        self.adopt_stored(Some(&active.access_token)).await?;
        let Some(active) = self.account.tokens() else {
            return Ok(());
        };
        self.discard(&active).await?;
        drop(lock);
        // Best effort: the tokens are removed in any case.
        let _ = tokio::time::timeout(TIMEOUT, self.revoke(&active)).await;
        Ok(())
    }

    /// Removes our registration at the authorization server of this server.
    pub(super) async fn forget_registration(self) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        let issuer = match self.server_record().await? {
            Some(record) => Some(record.issuer),
            // Not signed in yet: discover the authorization server.
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

    /// Revokes tokens by RFC 7009, if the authorization server supports it.
    /// Revoking a refresh token also revokes everything derived from it.
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

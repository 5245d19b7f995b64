//! Token renewal, one at a time across all processes that share a store.

use super::{
    account::{ActiveTokens, TokenOrigin},
    context::AuthContext,
    exchange::TokenRequest,
    record::token_key,
};
use crate::{
    auth::{AuthError, AuthErrorKind, Secret},
    proto::auth::{Grant, RegisteredClient, ServerMetadata, well_known},
};

impl AuthContext {
    /// Renews tokens, unless another process has done so. Returns whether the
    /// tokens have changed.
    ///
    /// A refresh token is valid once, and the response replaces it. So the
    /// store's lock is held from reading the old one to storing the new one; a
    /// task that waited for the lock finds the new one and is done.
    pub(super) async fn refresh(
        &self,
        active: &ActiveTokens,
        server: &ServerMetadata,
    ) -> Result<bool, AuthError> {
        let lock = self.settings.store.lock(&token_key(active)).await?;
        if self.adopt_stored(Some(&active.access_token)).await? {
            return Ok(true);
        }
        let Some(refresh_token) = &active.refresh_token else {
            return Ok(false);
        };
        let registered = self
            .client_for_tokens(&active.client_id, &server.issuer)
            .await?;
        let token_request = TokenRequest {
            server,
            resource: &active.resource,
            registered: &registered,
            scopes: &active.requested,
            key: active.key.as_deref(),
        };
        let renewed = self
            .exchange(&token_request, &Grant::RefreshToken(refresh_token))
            .await;
        let tokens = match renewed {
            Ok(tokens) => tokens,
            Err(error) if error.has_code("invalid_grant") => {
                // The refresh token is useless.
                self.discard(active).await?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        let mut renewed = self.active_tokens(tokens, active.key.as_ref(), TokenOrigin::Refreshed);
        // A server that does not rotate refresh tokens omits the old one.
        renewed.refresh_token = renewed.refresh_token.or(Some(refresh_token.clone()));
        renewed.issuer.clone_from(&active.issuer);
        renewed.resource.clone_from(&active.resource);
        renewed.client_id.clone_from(&active.client_id);
        renewed.requested.clone_from(&active.requested);
        self.store_tokens(renewed).await?;
        drop(lock);
        Ok(true)
    }

    /// Takes over the tokens in the store, if they differ from the current
    /// ones.
    pub(super) async fn adopt_stored(&self, current: Option<&Secret>) -> Result<bool, AuthError> {
        if self.account.store_is_stale() {
            // The stored refresh token is used up.
            return Ok(false);
        }
        let stored = self.load_tokens().await?;
        let stored = stored.filter(|stored| Some(&stored.access_token) != current);
        let is_new = stored.is_some();
        if is_new {
            self.account.set_tokens(stored);
        }
        Ok(is_new)
    }

    /// Renews tokens that are about to expire. A failure is ignored: the server
    /// sends a challenge then.
    pub(super) async fn renew_if_due(self, expiring: Secret) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        let active = self.account.tokens();
        let Some(active) = active.filter(|active| active.access_token == expiring) else {
            return Ok(());
        };
        if active.refresh_token.is_none() {
            return self.reobtain(&active).await;
        }
        let server = self.issuing_server(&active).await?;
        self.refresh(&active, &server).await.map(drop)
    }

    /// Renews the tokens, whether or not they are about to expire.
    pub(super) async fn renew(self) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        self.load_stored().await?;
        let no_tokens = || {
            AuthError::new(
                AuthErrorKind::Refused,
                "there are no tokens to renew; sign in first",
            )
        };
        let active = self.account.tokens().ok_or_else(no_tokens)?;
        let server = self.issuing_server(&active).await?;
        match self.refresh(&active, &server).await? {
            true => Ok(()),
            false => Err(no_tokens()),
        }
    }

    /// Returns the authorization server that issued these tokens. Whether it is
    /// still responsible for the server shows when they are used. If it
    /// publishes no metadata, nothing is assumed of it, unless it is the server
    /// itself.
    pub(super) async fn issuing_server(
        &self,
        active: &ActiveTokens,
    ) -> Result<ServerMetadata, AuthError> {
        if let Some(configured) = self.configured_discovery() {
            return Ok(configured.server);
        }
        let origin = well_known::origin(self.account.server.as_str());
        match self.server_metadata(&active.issuer).await? {
            Some(server) => Ok(server),
            None if origin.as_ref() == Some(&active.issuer) => self
                .legacy_discovery()
                .await
                .map(|discovery| discovery.server),
            None => {
                let reason = "the authorization server no longer publishes metadata";
                Err(AuthError::new(AuthErrorKind::Metadata, reason))
            }
        }
    }

    /// Returns the client that tokens were issued to.
    pub(super) async fn client_for_tokens(
        &self,
        client_id: &str,
        issuer: &str,
    ) -> Result<RegisteredClient, AuthError> {
        let configured_client = self.settings.client.as_ref();
        if let Some(configured_client) =
            configured_client.filter(|configured_client| configured_client.id == client_id)
        {
            return Ok(RegisteredClient::new(
                client_id,
                configured_client.secret.clone(),
            ));
        }
        let stored = self
            .stored_client(issuer)
            .await?
            .map(|stored| stored.registered);
        let stored = stored.filter(|stored| stored.client_id == client_id);
        // Otherwise it is a metadata document's URL, or a client without a
        // secret.
        Ok(stored.unwrap_or_else(|| RegisteredClient::new(client_id, None)))
    }
}

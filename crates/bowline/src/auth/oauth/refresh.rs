//! Renewing tokens, one at a time, in all processes that share a store.

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
    /// Renews tokens, unless another process has done so. Says whether there
    /// are other tokens now.
    ///
    /// A refresh token is good for one use, and what comes back replaces it. So
    /// the store's lock is held from reading the old one to keeping the new
    /// one; whoever waited for the lock finds the new one, and is done.
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
                // It is of no use to anybody.
                self.discard(active).await?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        let mut renewed = self.active_tokens(tokens, active.key.as_ref(), TokenOrigin::Refreshed);
        // A server that does not rotate says nothing of the old one.
        renewed.refresh_token = renewed.refresh_token.or(Some(refresh_token.clone()));
        renewed.issuer.clone_from(&active.issuer);
        renewed.resource.clone_from(&active.resource);
        renewed.client_id.clone_from(&active.client_id);
        renewed.requested.clone_from(&active.requested);
        self.store_tokens(renewed).await?;
        drop(lock);
        Ok(true)
    }

    /// Takes over the tokens in the store, if they are others than these.
    pub(super) async fn adopt_stored(&self, current: Option<&Secret>) -> Result<bool, AuthError> {
        if self.account.store_is_stale() {
            // What is in the store is used up.
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

    /// Renews what is due, before it is refused. That it fails is no matter:
    /// the server will say what it wants.
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

    /// Renews, due or not.
    pub(super) async fn renew(self) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        self.load_stored().await?;
        let no_tokens = || AuthError::new(AuthErrorKind::Refused, "there are no tokens to renew");
        let active = self.account.tokens().ok_or_else(no_tokens)?;
        let server = self.issuing_server(&active).await?;
        match self.refresh(&active, &server).await? {
            true => Ok(()),
            false => Err(no_tokens()),
        }
    }

    /// The authorization server that gave these tokens. Whether it still guards
    /// the server will be seen when they are used. Where it says nothing of
    /// itself, nothing is assumed of it either, unless it is the server itself.
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
                let reason = "the authorization server says nothing of itself any more";
                Err(AuthError::new(AuthErrorKind::Metadata, reason))
            }
        }
    }

    /// The client that tokens were given to.
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
        // Else it is a document's URL, or a client without a secret.
        Ok(stored.unwrap_or_else(|| RegisteredClient::new(client_id, None)))
    }
}

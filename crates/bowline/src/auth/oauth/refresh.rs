//! Renewing tokens, one at a time, in all processes that share a store.

use super::{
    account::{Held, How},
    exchange::Give,
    record::token_key,
    work::Work,
};
use crate::{
    auth::{AuthError, AuthErrorKind, Secret},
    proto::auth::{Grant, Registered, ServerMetadata, places},
};

impl Work {
    /// Renews tokens, unless another process has done so. Says whether there
    /// are other tokens now.
    ///
    /// A refresh token is good for one use, and what comes back replaces it. So
    /// the store's lock is held from reading the old one to keeping the new
    /// one; whoever waited for the lock finds the new one, and is done.
    pub(super) async fn refresh(
        &self,
        held: &Held,
        server: &ServerMetadata,
    ) -> Result<bool, AuthError> {
        let lock = self.settings.store.lock(&token_key(held)).await?;
        if self.adopt(Some(&held.access_token)).await? {
            return Ok(true);
        }
        let Some(refresh_token) = &held.refresh_token else {
            return Ok(false);
        };
        let registered = self.registered_as(&held.client_id, &server.issuer).await?;
        let give = Give {
            server,
            resource: &held.resource,
            registered: &registered,
            scopes: &held.requested,
            key: held.key.as_deref(),
        };
        let renewed = self.exchange(&give, &Grant::Refresh(refresh_token)).await;
        let tokens = match renewed {
            Ok(tokens) => tokens,
            Err(error) if error.is_refusal("invalid_grant") => {
                // It is of no use to anybody.
                self.discard(held).await?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        let mut renewed = self.held_of(tokens, held.key.as_ref(), How::Renewed);
        // A server that does not rotate says nothing of the old one.
        renewed.refresh_token = renewed.refresh_token.or(Some(refresh_token.clone()));
        renewed.issuer.clone_from(&held.issuer);
        renewed.resource.clone_from(&held.resource);
        renewed.client_id.clone_from(&held.client_id);
        renewed.requested.clone_from(&held.requested);
        self.keep(renewed).await?;
        drop(lock);
        Ok(true)
    }

    /// Takes over the tokens in the store, if they are others than these.
    pub(super) async fn adopt(&self, known: Option<&Secret>) -> Result<bool, AuthError> {
        if self.account.is_ahead() {
            // What is in the store is used up.
            return Ok(false);
        }
        let stored = self.stored().await?;
        let stored = stored.filter(|stored| Some(&stored.access_token) != known);
        let is_new = stored.is_some();
        if is_new {
            self.account.hold(stored);
        }
        Ok(is_new)
    }

    /// Renews what is due, before it is refused. That it fails is no matter:
    /// the server will say what it wants.
    pub(super) async fn renew_if_due(self, due: Secret) -> Result<(), AuthError> {
        let _turn = self.account.turn.lock().await;
        let held = self.account.held();
        let Some(held) = held.filter(|held| held.access_token == due) else {
            return Ok(());
        };
        if held.refresh_token.is_none() {
            return self.obtain_again(&held).await;
        }
        let server = self.server_of(&held).await?;
        self.refresh(&held, &server).await.map(drop)
    }

    /// Renews, due or not.
    pub(super) async fn renew(self) -> Result<(), AuthError> {
        let _turn = self.account.turn.lock().await;
        self.recall().await?;
        let nothing = || AuthError::new(AuthErrorKind::Refused, "there are no tokens to renew");
        let held = self.account.held().ok_or_else(nothing)?;
        let server = self.server_of(&held).await?;
        match self.refresh(&held, &server).await? {
            true => Ok(()),
            false => Err(nothing()),
        }
    }

    /// The authorization server that gave these tokens. Whether it still guards
    /// the server will be seen when they are used. Where it says nothing of
    /// itself, nothing is assumed of it either, unless it is the server itself.
    pub(super) async fn server_of(&self, held: &Held) -> Result<ServerMetadata, AuthError> {
        if let Some(told) = self.told() {
            return Ok(told.server);
        }
        let origin = places::origin(self.account.server.as_str());
        match self.server_metadata(&held.issuer).await? {
            Some(server) => Ok(server),
            None if origin.as_ref() == Some(&held.issuer) => {
                self.first_servers().await.map(|found| found.server)
            }
            None => {
                let why = "the authorization server says nothing of itself any more";
                Err(AuthError::new(AuthErrorKind::Metadata, why))
            }
        }
    }

    /// The client that tokens were given to.
    pub(super) async fn registered_as(
        &self,
        client_id: &str,
        issuer: &str,
    ) -> Result<Registered, AuthError> {
        let preset = self.settings.client.as_ref();
        if let Some(preset) = preset.filter(|preset| preset.id == client_id) {
            return Ok(Registered::new(client_id, preset.secret.clone()));
        }
        let known = self
            .known_client(issuer)
            .await?
            .map(|known| known.registered);
        let known = known.filter(|known| known.client_id == client_id);
        // Else it is a document's URL, or a client without a secret.
        Ok(known.unwrap_or_else(|| Registered::new(client_id, None)))
    }
}

//! Telling the authorization server that tokens are of no use any more.

use std::time::Duration;

use super::{account::Held, record::token_key, work::Work};
use crate::{auth::AuthError, proto::auth::Demand};

/// How long the authorization server may take. Nobody waits for it gladly: the
/// tokens are forgotten here already.
const PATIENCE: Duration = Duration::from_secs(10);

impl Work {
    /// Forgets the tokens, here and in the store, and has them revoked.
    pub(super) async fn sign_out(self) -> Result<(), AuthError> {
        let _turn = self.account.turn.lock().await;
        self.recall().await?;
        let Some(held) = self.account.held() else {
            return Ok(());
        };
        // Another process may be renewing them: what it gets is forgotten, too.
        let lock = self.settings.store.lock(&token_key(&held)).await?;
        self.adopt(Some(&held.access_token)).await?;
        let Some(held) = self.account.held() else {
            return Ok(());
        };
        self.discard(&held).await?;
        drop(lock);
        // Who cannot be told, cannot be told; they are forgotten all the same.
        let _ = tokio::time::timeout(PATIENCE, self.revoke(&held)).await;
        Ok(())
    }

    /// Forgets our registration at the authorization server of this server.
    pub(super) async fn forget_registration(self) -> Result<(), AuthError> {
        let _turn = self.account.turn.lock().await;
        let issuer = match self.server_record().await? {
            Some(record) => Some(record.issuer),
            // Nobody has signed in so far. Who guards the server, it says.
            None => {
                let demand = Demand::default();
                let found = tokio::time::timeout(PATIENCE, self.discover(&demand)).await;
                found.ok().and_then(Result::ok).map(|it| it.server.issuer)
            }
        };
        match issuer {
            Some(issuer) => self.forget_client(&issuer).await,
            None => Ok(()),
        }
    }

    /// Revokes tokens, by RFC 7009, where the authorization server takes that.
    /// With a refresh token goes all that came of it.
    async fn revoke(&self, held: &Held) -> Result<(), AuthError> {
        let server = self.server_of(held).await?;
        let Some(endpoint) = server.document.text("revocation_endpoint") else {
            return Ok(());
        };
        let (token, kind) = match &held.refresh_token {
            Some(token) => (token, "refresh_token"),
            None => (&held.access_token, "access_token"),
        };
        let registered = self.registered_as(&held.client_id, &server.issuer).await?;
        let auth = self.client_auth(&registered, &server)?;
        let mut form = vec![
            ("token", token.expose().to_owned()),
            ("token_type_hint", kind.to_owned()),
        ];
        form.extend(auth.form());
        let header = auth.header();
        let posted = self.fetch.post_form(endpoint, &form, header.as_ref(), None);
        posted.await.map(drop)
    }
}

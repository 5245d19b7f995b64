//! How the client authenticates at the authorization server: by key, secret or not at all.

use serde_json::json;

use super::{account::now, context::AuthContext};
use crate::{
    auth::{AuthError, Secret, random},
    proto::auth::{ClientAuth, ClientAuthMethod, RegisteredClient, ServerMetadata},
};

/// Lifetime of client assertions, in seconds.
const ASSERTION_LIFETIME: u64 = 60;

impl AuthContext {
    /// Returns how the client authenticates. A key takes precedence over a
    /// secret.
    pub(super) fn client_auth(
        &self,
        registered: &RegisteredClient,
        server: &ServerMetadata,
    ) -> Result<ClientAuth, AuthError> {
        let client_id = registered.client_id.clone();
        let configured = self.settings.client.as_ref();
        let is_configured = configured.is_some_and(|client| client.id == client_id);
        if let Some(key) = self.settings.key.as_ref().filter(|_| is_configured) {
            let (issued_at, id) = (now(), random::random_token()?);
            let claims = json!({
                "iss": client_id,
                "sub": client_id,
                "aud": server.issuer,
                "iat": issued_at,
                "exp": issued_at + ASSERTION_LIFETIME,
                "jti": id,
            });
            return Ok(ClientAuth {
                client_id,
                method: ClientAuthMethod::PrivateKeyJwt,
                secret: Some(Secret::new(key.sign("JWT", &claims)?)),
            });
        }
        let secret = registered.client_secret.clone();
        let method = ClientAuthMethod::choose(registered.auth_method, secret.is_some(), server);
        Ok(ClientAuth {
            client_id,
            method,
            secret,
        })
    }
}

//! The records in the token store and their format.

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    account::{ActiveTokens, TokenOrigin},
    context::AuthContext,
    dpop::DpopKey,
};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes, Secret, TokenStoreKey},
    proto::auth::{ClientAuthMethod, RegisteredClient},
};

/// Stored tokens. None of the records implements `Debug`.
#[derive(Serialize, Deserialize)]
struct TokenRecord {
    #[serde(with = "exposed")]
    access_token: Secret,
    #[serde(with = "exposed_option", default)]
    refresh_token: Option<Secret>,
    renew_at: Option<u64>,
    requested: String,
    #[serde(with = "exposed_option", default)]
    key: Option<Secret>,
}

/// The tokens that belong to a server.
#[derive(Serialize, Deserialize)]
pub(super) struct ServerRecord {
    pub(super) issuer: String,
    pub(super) resource: String,
    pub(super) client_id: String,
}

/// A registration.
#[derive(Serialize, Deserialize)]
struct ClientRecord {
    client_id: String,
    #[serde(with = "exposed_option", default)]
    client_secret: Option<Secret>,
    auth_method: Option<String>,
    secret_expires_at: Option<u64>,
    redirect_uri: String,
}

/// A stored registration and its redirect URI.
pub(super) struct StoredClient {
    pub(super) registered: RegisteredClient,
    pub(super) redirect_uri: String,
}

/// Tokens.
impl AuthContext {
    /// Loads the tokens for our server from the store.
    pub(super) async fn load_tokens(&self) -> Result<Option<ActiveTokens>, AuthError> {
        let Some(server) = self.server_record().await? else {
            return Ok(None);
        };
        let key = TokenStoreKey::tokens(&server.issuer, &server.resource, &server.client_id);
        let Some(record) = self.load::<TokenRecord>(&key).await? else {
            return Ok(None);
        };
        let dpop_key = record.key.map(|pem| DpopKey::from_pem(pem.expose()));
        let dpop_key = dpop_key.transpose()?;
        Ok(Some(ActiveTokens {
            issuer: server.issuer,
            resource: server.resource,
            client_id: server.client_id,
            access_token: record.access_token,
            refresh_token: record.refresh_token,
            renew_at: record.renew_at,
            requested: Scopes::parse(&record.requested),
            key: dpop_key.map(Arc::new),
            origin: TokenOrigin::Stored,
        }))
    }

    /// Stores tokens and uses them.
    pub(super) async fn store_tokens(&self, active: ActiveTokens) -> Result<(), AuthError> {
        let record = TokenRecord {
            access_token: active.access_token.clone(),
            refresh_token: active.refresh_token.clone(),
            renew_at: active.renew_at,
            requested: active.requested.to_string(),
            key: active.key.as_ref().map(|key| key.pem().clone()),
        };
        let server = ServerRecord {
            issuer: active.issuer.clone(),
            resource: active.resource.clone(),
            client_id: active.client_id.clone(),
        };
        let key = token_key(&active);
        // They are usable whether or not they can be stored.
        self.account.set_tokens(Some(active));
        self.account.set_store_is_stale(true);
        self.save(&key, &record).await?;
        self.save(&self.server_key(), &server).await?;
        self.account.set_store_is_stale(false);
        Ok(())
    }

    /// Removes tokens, unless others have replaced them.
    pub(super) async fn discard(&self, active: &ActiveTokens) -> Result<(), AuthError> {
        let stored = self.load_tokens().await?;
        if stored.is_some_and(|stored| stored.access_token == active.access_token) {
            self.settings.store.remove(&token_key(active)).await?;
        }
        self.account.set_tokens(None);
        Ok(())
    }

    pub(super) async fn server_record(&self) -> Result<Option<ServerRecord>, AuthError> {
        self.load(&self.server_key()).await
    }

    fn server_key(&self) -> TokenStoreKey {
        TokenStoreKey::server(self.account.server.as_str(), &self.settings.name)
    }
}

pub(super) fn token_key(active: &ActiveTokens) -> TokenStoreKey {
    TokenStoreKey::tokens(&active.issuer, &active.resource, &active.client_id)
}

/// Registrations, one per issuer.
impl AuthContext {
    pub(super) async fn stored_client(
        &self,
        issuer: &str,
    ) -> Result<Option<StoredClient>, AuthError> {
        let record: Option<ClientRecord> = self.load(&self.client_key(issuer)).await?;
        Ok(record.map(|record| {
            let mut registered = RegisteredClient::new(record.client_id, record.client_secret);
            let method = record.auth_method.as_deref();
            registered.auth_method = method.and_then(ClientAuthMethod::parse);
            registered.secret_expires_at = record.secret_expires_at;
            StoredClient {
                registered,
                redirect_uri: record.redirect_uri,
            }
        }))
    }

    pub(super) async fn store_client(
        &self,
        issuer: &str,
        client: &StoredClient,
    ) -> Result<(), AuthError> {
        let registered = &client.registered;
        let method = registered.auth_method.map(ClientAuthMethod::as_str);
        let record = ClientRecord {
            client_id: registered.client_id.clone(),
            client_secret: registered.client_secret.clone(),
            auth_method: method.map(str::to_owned),
            secret_expires_at: registered.secret_expires_at,
            redirect_uri: client.redirect_uri.clone(),
        };
        self.save(&self.client_key(issuer), &record).await
    }

    pub(super) async fn forget_client(&self, issuer: &str) -> Result<(), AuthError> {
        let key = self.client_key(issuer);
        Ok(self.settings.store.remove(&key).await?)
    }

    fn client_key(&self, issuer: &str) -> TokenStoreKey {
        TokenStoreKey::registration(issuer, &self.settings.name)
    }
}

impl AuthContext {
    /// Loads the record of a key. A record that cannot be parsed counts as
    /// absent: it is of another version or damaged, and a new sign-in replaces
    /// it.
    async fn load<T: DeserializeOwned>(&self, key: &TokenStoreKey) -> Result<Option<T>, AuthError> {
        let stored = self.settings.store.load(key).await?;
        Ok(stored.and_then(|json| serde_json::from_str(json.expose()).ok()))
    }

    async fn save<T: Serialize>(&self, key: &TokenStoreKey, value: &T) -> Result<(), AuthError> {
        let json = serde_json::to_string(value);
        let json = json.map_err(|_| {
            AuthError::new(
                AuthErrorKind::Store,
                "failed to serialize a record for the token store",
            )
        })?;
        Ok(self.settings.store.save(key, &Secret::new(json)).await?)
    }
}

/// Secrets in records: serialized in clear text, since the store keeps them,
/// and wiped when the record is dropped.
mod exposed {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::auth::Secret;

    pub(super) fn serialize<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(secret.expose())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
        String::deserialize(from).map(Secret::new)
    }
}

mod exposed_option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::auth::Secret;

    pub(super) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::expose).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Secret>, D::Error> {
        Option::<String>::deserialize(from).map(|it| it.map(Secret::new))
    }
}

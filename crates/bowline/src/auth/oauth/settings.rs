//! The settings of an `OAuth` client.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use super::{OAuth, unattended::GrantFlow};
use crate::{
    auth::{ApplicationType, MemoryStore, Scopes, Secret, TokenStore, UserAgent},
    fetch::{Fetch, ProxyUse, Resolver, SystemResolver, WebFetch},
    jose::SigningKey,
};

/// Default time before expiry at which a token is renewed.
const RENEWAL_MARGIN: Duration = Duration::from_secs(30);

/// The settings of an [`OAuth`].
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) name: String,
    pub(super) application_type: ApplicationType,
    pub(super) client: Option<ConfiguredClient>,
    pub(super) issuer: Option<String>,
    pub(super) key: Option<Arc<SigningKey>>,
    pub(super) metadata_url: Option<String>,
    pub(super) scopes: Scopes,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) user_agent: Option<Arc<dyn UserAgent>>,
    pub(super) grant_flow: GrantFlow,
    /// The token endpoint for unattended grants, which skips discovery.
    pub(super) token_endpoint: Option<String>,
    /// How long before its expiry a token is renewed.
    pub(super) renewal_margin: Duration,
    pub(super) dpop: bool,
    pub(super) allow_private: bool,
    pub(super) allow_plain_http: bool,
    use_proxies: bool,
    resolver: Arc<dyn Resolver>,
    fetch: OnceLock<Arc<dyn Fetch>>,
}

/// A preregistered client.
#[derive(Clone)]
pub(super) struct ConfiguredClient {
    pub(super) id: String,
    pub(super) secret: Option<Secret>,
}

impl Settings {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            application_type: ApplicationType::Native,
            client: None,
            issuer: None,
            key: None,
            metadata_url: None,
            scopes: Scopes::default(),
            store: Arc::new(MemoryStore::new()),
            user_agent: None,
            grant_flow: GrantFlow::AuthorizationCode,
            token_endpoint: None,
            renewal_margin: RENEWAL_MARGIN,
            dpop: false,
            allow_private: false,
            allow_plain_http: false,
            use_proxies: false,
            resolver: Arc::new(SystemResolver),
            fetch: OnceLock::new(),
        }
    }

    /// Returns the `Fetch` implementation, created on first use.
    pub(super) fn fetch(&self) -> Arc<dyn Fetch> {
        let default_fetch = || {
            let proxies = match self.use_proxies {
                true => ProxyUse::Always,
                false => ProxyUse::Never,
            };
            Arc::new(WebFetch::with(Arc::clone(&self.resolver), proxies)) as _
        };
        Arc::clone(self.fetch.get_or_init(default_fetch))
    }
}

/// Identity of the application.
impl OAuth {
    /// Uses a client id that was preregistered with the authorization server.
    /// See [`issuer`](Self::issuer).
    #[must_use]
    pub fn client_id(self, id: &str) -> Self {
        self.update_settings(|settings| {
            let secret = settings.client.take().and_then(|client| client.secret);
            let id = id.to_owned();
            settings.client = Some(ConfiguredClient { id, secret });
        })
    }

    /// Sets the secret of that client. Set the [`issuer`](Self::issuer), too:
    /// otherwise the secret is sent to the authorization server that the first
    /// server names.
    #[must_use]
    pub fn client_secret(self, secret: impl Into<Secret>) -> Self {
        self.update_settings(|settings| {
            let id = settings.client.take().map(|client| client.id);
            settings.client = Some(ConfiguredClient {
                id: id.unwrap_or_default(),
                secret: Some(secret.into()),
            });
        })
    }

    /// Sets the key that the client authenticates with instead of a secret.
    #[must_use]
    pub fn client_key(self, key: SigningKey) -> Self {
        self.update_settings(|settings| settings.key = Some(Arc::new(key)))
    }

    /// Sets the authorization server that the client id is for; the id is sent
    /// to no other. Without this, it is sent to the authorization server of the
    /// first server, and to no other later.
    #[must_use]
    pub fn issuer(self, issuer: &str) -> Self {
        self.update_settings(|settings| settings.issuer = Some(issuer.to_owned()))
    }

    /// Sets the URL of the application's client metadata document, which is
    /// used as the client id at authorization servers that support such
    /// documents.
    #[must_use]
    pub fn client_metadata_url(self, url: &str) -> Self {
        self.update_settings(|settings| settings.metadata_url = Some(url.to_owned()))
    }

    /// Sets the application type for registrations. Default: native, an
    /// application on the user's machine.
    #[must_use]
    pub fn application_type(self, application_type: ApplicationType) -> Self {
        self.update_settings(|settings| settings.application_type = application_type)
    }
}

/// Scopes, storage and tokens.
impl OAuth {
    /// Requests these scopes, in addition to those that a server names in its
    /// challenge. Without this, all scopes in the server's metadata.
    #[must_use]
    pub fn scopes<'a>(self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.update_settings(|settings| settings.scopes = scopes.into_iter().collect())
    }

    /// Sets the token store. Without this, tokens are kept in memory.
    #[must_use]
    pub fn store(self, store: impl TokenStore) -> Self {
        self.update_settings(|settings| settings.store = Arc::new(store))
    }

    /// Sets how the user is sent to the authorization server.
    #[must_use]
    pub fn user_agent(self, agent: impl UserAgent) -> Self {
        self.update_settings(|settings| settings.user_agent = Some(Arc::new(agent)))
    }

    /// Sets how long before their expiry tokens are renewed. Default: 30
    /// seconds. A token that is valid for less than twice that time is renewed
    /// when half of its lifetime is over.
    #[must_use]
    pub fn renewal_margin(self, margin: Duration) -> Self {
        self.update_settings(|settings| settings.renewal_margin = margin)
    }

    /// Binds tokens to a private key that is never sent (DPoP, RFC 9449), so a
    /// stolen token is useless. Servers that require this get it anyway.
    #[must_use]
    pub fn dpop(self) -> Self {
        self.update_settings(|settings| settings.dpop = true)
    }
}

/// Network access.
impl OAuth {
    /// Lets discovery connect to non-public addresses, for servers within an
    /// organisation. Only use it if you trust the server.
    #[must_use]
    pub fn allow_private_networks(self) -> Self {
        self.update_settings(|settings| settings.allow_private = true)
    }

    /// Allows secrets and tokens to be sent over plain `http` to the server,
    /// and to the [issuer](Self::issuer) and [token
    /// endpoint](Self::token_endpoint) that the application configured. Anyone
    /// on the network path can read and use them, so only use it on networks
    /// without third parties, such as between the containers of one machine.
    /// The transport has its own
    /// [setting](crate::transport::Http::allow_plain_http).
    #[must_use]
    pub fn allow_plain_http(self) -> Self {
        self.update_settings(|settings| settings.allow_plain_http = true)
    }

    /// Sends the requests of authorization through the proxies of the
    /// environment. Proxies resolve names themselves, so they decide which
    /// addresses are reached.
    #[must_use]
    pub fn use_system_proxies(self) -> Self {
        self.update_settings(|settings| {
            settings.use_proxies = true;
            settings.fetch = OnceLock::new();
        })
    }

    /// Sets the name resolver.
    #[must_use]
    pub fn resolver(self, resolver: impl Resolver) -> Self {
        self.update_settings(|settings| {
            settings.resolver = Arc::new(resolver);
            settings.fetch = OnceLock::new();
        })
    }

    /// Sets the HTTP client for the requests of authorization. URLs are still
    /// checked; `fetch` must check the addresses they resolve to.
    #[must_use]
    pub fn fetch(self, fetch: impl Fetch) -> Self {
        self.update_settings(|settings| {
            settings.fetch = OnceLock::from(Arc::new(fetch) as Arc<dyn Fetch>);
        })
    }

    pub(super) fn update_settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        // State from other settings is not valid for these.
        self.contexts = Arc::default();
        self
    }
}

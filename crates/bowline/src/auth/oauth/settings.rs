//! What the application wants.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use super::{OAuth, unattended::GrantFlow};
use crate::{
    auth::{
        ApplicationType, Fetch, MemoryStore, Resolver, Scopes, Secret, TokenStore, UserAgent,
        fetch::{ReqwestFetch, SystemResolver},
    },
    jose::SigningKey,
};

/// How long before its end a token is renewed, unless given.
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
    /// Where programs get tokens, where nobody is asked for that.
    pub(super) token_endpoint: Option<String>,
    /// How long before its end a token is renewed.
    pub(super) renewal_margin: Duration,
    pub(super) dpop: bool,
    pub(super) allow_private: bool,
    pub(super) allow_plain_http: bool,
    use_proxies: bool,
    resolver: Arc<dyn Resolver>,
    fetch: OnceLock<Arc<dyn Fetch>>,
}

/// A client that was registered by other means.
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

    /// What makes the requests, made when it is first needed.
    pub(super) fn fetch(&self) -> Arc<dyn Fetch> {
        let default_fetch = || {
            Arc::new(ReqwestFetch::new(
                Arc::clone(&self.resolver),
                self.use_proxies,
            )) as _
        };
        Arc::clone(self.fetch.get_or_init(default_fetch))
    }
}

/// Who the application is.
impl OAuth {
    /// Uses a client id that was agreed on with the authorization server. See
    /// [`issuer`](Self::issuer).
    #[must_use]
    pub fn client_id(self, id: &str) -> Self {
        self.update_settings(|settings| {
            let secret = settings.client.take().and_then(|client| client.secret);
            let id = id.to_owned();
            settings.client = Some(ConfiguredClient { id, secret });
        })
    }

    /// The secret of that client. Name the [`issuer`](Self::issuer), too: else
    /// it goes to the authorization server that the first server names.
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

    /// The key of that client, with which it proves who it is instead of by a
    /// secret.
    #[must_use]
    pub fn client_key(self, key: SigningKey) -> Self {
        self.update_settings(|settings| settings.key = Some(Arc::new(key)))
    }

    /// The authorization server that knows that client id. The id is sent to no
    /// other. Without this, it goes to the first that guards a server, and to
    /// no other later.
    #[must_use]
    pub fn issuer(self, issuer: &str) -> Self {
        self.update_settings(|settings| settings.issuer = Some(issuer.to_owned()))
    }

    /// The URL of a document about the application, which serves as its id at
    /// authorization servers that read such documents.
    #[must_use]
    pub fn client_metadata_url(self, url: &str) -> Self {
        self.update_settings(|settings| settings.metadata_url = Some(url.to_owned()))
    }

    /// What kind of program it is, for registrations: one on the user's
    /// machine, unless this says otherwise.
    #[must_use]
    pub fn application_type(self, application_type: ApplicationType) -> Self {
        self.update_settings(|settings| settings.application_type = application_type)
    }
}

/// What it wants, and where it keeps that.
impl OAuth {
    /// Asks for these scopes, beside those that a server names in its
    /// challenge. Without this, all that the server's metadata lists.
    #[must_use]
    pub fn scopes<'a>(self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.update_settings(|settings| settings.scopes = scopes.into_iter().collect())
    }

    /// Keeps tokens here. Without this, they are gone at the end.
    #[must_use]
    pub fn store(self, store: impl TokenStore) -> Self {
        self.update_settings(|settings| settings.store = Arc::new(store))
    }

    /// Sends the user to the authorization server in this way.
    #[must_use]
    pub fn user_agent(self, agent: impl UserAgent) -> Self {
        self.update_settings(|settings| settings.user_agent = Some(Arc::new(agent)))
    }

    /// Renews tokens so long before their end: half a minute, unless this says
    /// otherwise. A token that is good for less than twice as long is renewed
    /// when half of its time is over.
    #[must_use]
    pub fn renewal_margin(self, margin: Duration) -> Self {
        self.update_settings(|settings| settings.renewal_margin = margin)
    }

    /// Binds tokens to a key that never leaves (DPoP, RFC 9449), so that a token
    /// that is stolen is of no use. Servers that want that get it anyway.
    #[must_use]
    pub fn dpop(self) -> Self {
        self.update_settings(|settings| settings.dpop = true)
    }
}

/// How requests are made.
impl OAuth {
    /// Lets discovery lead to addresses that are not public, for servers within
    /// an organisation. Only do that if you trust the server.
    #[must_use]
    pub fn allow_private_networks(self) -> Self {
        self.update_settings(|settings| settings.allow_private = true)
    }

    /// Lets secrets and tokens go over plain `http` to the server, and to the
    /// [issuer](Self::issuer) and [token endpoint](Self::token_endpoint) that
    /// the application names. Whoever is on the way can read and use them, so
    /// only do that where nobody else is: between the containers of one
    /// machine, say. The transport has a
    /// [setting](crate::transport::Http::allow_plain_http) of its own.
    #[must_use]
    pub fn allow_plain_http(self) -> Self {
        self.update_settings(|settings| settings.allow_plain_http = true)
    }

    /// Makes the requests of authorization through the proxies that the
    /// environment names. They resolve names themselves, so that which
    /// addresses are reached is up to them.
    #[must_use]
    pub fn use_system_proxies(self) -> Self {
        self.update_settings(|settings| {
            settings.use_proxies = true;
            settings.fetch = OnceLock::new();
        })
    }

    /// Resolves names in this way.
    #[must_use]
    pub fn resolver(self, resolver: impl Resolver) -> Self {
        self.update_settings(|settings| {
            settings.resolver = Arc::new(resolver);
            settings.fetch = OnceLock::new();
        })
    }

    /// Makes the requests of authorization in this way. URLs are still vetted;
    /// which addresses they lead to is for `fetch` to watch.
    #[must_use]
    pub fn fetch(self, fetch: impl Fetch) -> Self {
        self.update_settings(|settings| {
            settings.fetch = OnceLock::from(Arc::new(fetch) as Arc<dyn Fetch>);
        })
    }

    pub(super) fn update_settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        // What was found out by other settings does not hold for these.
        self.contexts = Arc::default();
        self
    }
}

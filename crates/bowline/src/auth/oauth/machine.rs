//! Tokens for programs that act on their own, or in the name of an organisation.

use std::{fmt, sync::Arc};

use super::{
    OAuth,
    account::Held,
    discover::{Found, canonical},
    exchange::{Give, tokens_in},
    proof::ProofKey,
    work::Work,
};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes, Secret},
    proto::auth::{
        AuthMethod, ClientAuth, Demand, EndpointsAt, Grant, Registered, ServerMetadata, Tokens,
        places,
    },
    transport::BoxFuture,
};

/// Something that gives a secret whenever one is needed.
type Source = Arc<dyn Fn() -> BoxFuture<'static, Result<Secret, AuthError>> + Send + Sync>;

/// What a token is given for.
#[derive(Clone)]
pub(super) enum Way {
    /// A user signs in.
    User,
    /// Who the client is, is enough.
    ClientCredentials,
    /// What the platform that we run on says of us.
    Workload(Source),
    /// The user's sign-in at an identity provider.
    Enterprise(Enterprise),
}

/// A sign-in at the identity provider of an organisation, which decides which
/// servers its people may use: the extension `enterprise-managed-authorization`.
///
/// ```
/// use bowline::auth::{Enterprise, OAuth};
///
/// let provider = Enterprise::new(
///     "https://idp.example.com/token",
///     "my-app-at-the-provider",
///     async || Ok("the ID token of the user".into()),
/// );
/// let oauth = OAuth::new("My App")
///     .client_id("my-app-at-the-server")
///     .enterprise(provider);
/// # drop(oauth);
/// ```
#[derive(Clone)]
pub struct Enterprise {
    pub(super) token_endpoint: String,
    client_id: String,
    client_secret: Option<Secret>,
    id_token: Source,
}

impl Enterprise {
    /// The provider's token endpoint, our client id there, and where the ID
    /// token of the user comes from.
    pub fn new<F, Fut>(token_endpoint: &str, client_id: &str, id_token: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Secret, AuthError>> + Send + 'static,
    {
        Self {
            token_endpoint: token_endpoint.to_owned(),
            client_id: client_id.to_owned(),
            client_secret: None,
            id_token: Arc::new(move || Box::pin(id_token())),
        }
    }

    /// Our secret at the provider.
    #[must_use]
    pub fn client_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.client_secret = Some(secret.into());
        self
    }
}

impl fmt::Debug for Enterprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enterprise")
            .field("token_endpoint", &self.token_endpoint)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// What the program has instead of a user.
impl OAuth {
    /// Gets tokens for the client itself. It needs a
    /// [`client_id`](Self::client_id), and a secret or a key.
    #[must_use]
    pub fn client_credentials(self) -> Self {
        self.with(|settings| settings.way = Way::ClientCredentials)
    }

    /// Gets tokens at this endpoint, for programs that act on their own: nobody
    /// is asked who guards a server, and tokens are had before the first
    /// request. The client's secret goes there, so the server has no say in it.
    ///
    /// ```
    /// use bowline::auth::OAuth;
    ///
    /// let oauth = OAuth::new("My App")
    ///     .client_id("my-app")
    ///     .client_secret("s3cr3t")
    ///     .token_endpoint("https://login.example.com/oauth/token")
    ///     .client_credentials();
    /// # drop(oauth);
    /// ```
    #[must_use]
    pub fn token_endpoint(self, url: &str) -> Self {
        self.with(|settings| settings.token_endpoint = Some(url.to_owned()))
    }

    /// Gets tokens for what the platform says of this program: a signed
    /// statement (JWT) whose audience is the authorization server. It is asked
    /// for anew whenever tokens are needed.
    #[must_use]
    pub fn workload<F, Fut>(self, statement: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Secret, AuthError>> + Send + 'static,
    {
        let source: Source = Arc::new(move || Box::pin(statement()));
        self.with(|settings| settings.way = Way::Workload(source))
    }

    /// Gets tokens by way of the organisation's identity provider.
    #[must_use]
    pub fn enterprise(self, provider: Enterprise) -> Self {
        self.with(|settings| settings.way = Way::Enterprise(provider))
    }
}

impl Way {
    /// Whether nobody has to be asked.
    pub(super) fn is_machine(&self) -> bool {
        !matches!(self, Self::User)
    }
}

impl Work {
    /// The authorization server that the application named, where that is all
    /// there is to know of it.
    pub(super) fn told(&self) -> Option<Found> {
        let endpoint = self.settings.token_endpoint.as_ref();
        let endpoint = endpoint.filter(|_| self.settings.way.is_machine())?;
        let origin = places::origin(endpoint).unwrap_or_else(|| endpoint.clone());
        let mut server = ServerMetadata::assumed(EndpointsAt(&origin));
        if let Some(issuer) = &self.settings.issuer {
            server.issuer.clone_from(issuer);
        }
        server.token_endpoint = Some(endpoint.clone());
        Some(Found {
            resource: canonical(self.account.server.as_str()),
            metadata: None,
            server,
        })
    }

    /// Gets tokens ahead of any request, where it is known who gives them.
    pub(super) async fn obtain_ahead(self) -> Result<(), AuthError> {
        let _turn = self.account.turn.lock().await;
        self.recall().await?;
        let Some(found) = self.told().filter(|_| self.account.held().is_none()) else {
            return Ok(());
        };
        if let Some(error) = self.account.recent_failure() {
            return Err(error);
        }
        let scopes = self.settings.scopes.clone();
        let obtained = self.obtain(&found, scopes, &Demand::default()).await;
        obtained.inspect_err(|error| self.account.failed(error))
    }

    /// Tokens in place of those that are due, which have nothing that would
    /// renew them.
    pub(super) async fn obtain_again(&self, held: &Held) -> Result<(), AuthError> {
        let demand = Demand {
            proof: held.key.is_some(),
            ..Demand::default()
        };
        let found = self.discover(&demand).await?;
        self.obtain(&found, held.requested.clone(), &demand).await
    }

    /// Tokens without a user at hand.
    pub(super) async fn by_machine(
        &self,
        way: &Way,
        found: &Found,
        scopes: &Scopes,
        key: Option<&Arc<ProofKey>>,
    ) -> Result<(Registered, Tokens), AuthError> {
        let issuer = &found.server.issuer;
        let registered = self.preset(issuer).await?.ok_or_else(|| {
            let why = "there is no client id for the authorization server of this server";
            AuthError::new(AuthErrorKind::NoClientId, why)
        })?;
        let give = Give {
            server: &found.server,
            resource: &found.resource,
            registered: &registered,
            scopes,
            key: key.map(Arc::as_ref),
        };
        let tokens = match way {
            Way::ClientCredentials | Way::User => {
                self.exchange(&give, &Grant::ClientCredentials).await?
            }
            Way::Workload(statement) => {
                let statement = statement().await?;
                self.exchange(&give, &Grant::Jwt(&statement)).await?
            }
            Way::Enterprise(provider) => {
                let statement = self.vouched(provider, found, scopes).await?;
                self.exchange(&give, &Grant::Jwt(&statement)).await?
            }
        };
        Ok((registered, tokens))
    }

    /// The word of the identity provider, for the authorization server.
    async fn vouched(
        &self,
        provider: &Enterprise,
        found: &Found,
        scopes: &Scopes,
    ) -> Result<Secret, AuthError> {
        let id_token = (provider.id_token)().await?;
        let grant = Grant::IdentityAssertion {
            id_token: &id_token,
            audience: &found.server.issuer,
        };
        let auth = ClientAuth {
            client_id: provider.client_id.clone(),
            method: match &provider.client_secret {
                Some(_) => AuthMethod::Post,
                None => AuthMethod::None,
            },
            secret: provider.client_secret.clone(),
        };
        let mut form = grant.form(Some(&found.resource), scopes);
        form.extend(auth.form());
        let endpoint = &provider.token_endpoint;
        let answer = self.post_grant(endpoint, &form, &auth, None).await?;
        let tokens = tokens_in(&answer)?;
        const WANTED: &str = "urn:ietf:params:oauth:token-type:id-jag";
        if tokens.issued_token_type.as_deref() != Some(WANTED) {
            let why = "the identity provider gave something else than was asked for";
            return Err(AuthError::new(AuthErrorKind::Metadata, why));
        }
        Ok(tokens.access_token)
    }
}

//! Tokens for programs without a user, or on behalf of an organisation.

use std::{fmt, sync::Arc};

use super::{
    OAuth,
    account::ActiveTokens,
    context::AuthContext,
    discover::{Discovery, canonical_resource},
    dpop::DpopKey,
    exchange::{TokenRequest, parse_tokens},
};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes, Secret},
    proto::auth::{
        ChallengeSummary, ClientAuth, ClientAuthMethod, EndpointBase, Grant, RegisteredClient,
        ServerMetadata, Tokens, well_known,
    },
    transport::BoxFuture,
};

/// A function that returns a secret whenever one is needed.
type SecretSource = Arc<dyn Fn() -> BoxFuture<'static, Result<Secret, AuthError>> + Send + Sync>;

/// The grant that tokens are requested with.
#[derive(Clone)]
pub(super) enum GrantFlow {
    /// A user signs in.
    AuthorizationCode,
    /// The client's own identity.
    ClientCredentials,
    /// An assertion from the platform that the program runs on.
    Workload(SecretSource),
    /// The user's sign-in at an identity provider.
    IdentityProvider(IdentityProvider),
}

/// A sign-in at an organisation's identity provider, which decides which
/// servers its people may use: the extension
/// `enterprise-managed-authorization`.
///
/// ```
/// use bowline::auth::{IdentityProvider, OAuth};
///
/// let provider = IdentityProvider::new(
///     "https://idp.example.com/token",
///     "my-app-at-the-provider",
///     async || Ok("the ID token of the user".into()),
/// );
/// let oauth = OAuth::new("My App")
///     .client_id("my-app-at-the-server")
///     .identity_provider(provider);
/// # drop(oauth);
/// ```
#[derive(Clone)]
pub struct IdentityProvider {
    pub(super) token_endpoint: String,
    client_id: String,
    client_secret: Option<Secret>,
    id_token: SecretSource,
}

impl IdentityProvider {
    /// Creates a provider from its token endpoint, our client id there, and a
    /// function that returns the user's ID token.
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

    /// Sets our client secret at the provider.
    #[must_use]
    pub fn client_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.client_secret = Some(secret.into());
        self
    }
}

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityProvider")
            .field("token_endpoint", &self.token_endpoint)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// Grants without a user.
impl OAuth {
    /// Obtains tokens for the client itself. Requires a
    /// [`client_id`](Self::client_id), and a secret or a key.
    #[must_use]
    pub fn client_credentials(self) -> Self {
        self.update_settings(|settings| settings.grant_flow = GrantFlow::ClientCredentials)
    }

    /// Obtains tokens at this endpoint, for programs without a user: there is
    /// no discovery, and tokens are obtained before the first request. The
    /// client's secret is sent there, so the server has no influence on it.
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
        self.update_settings(|settings| settings.token_endpoint = Some(url.to_owned()))
    }

    /// Obtains tokens with an assertion from the platform that the program runs
    /// on: a signed JWT whose audience is the authorization server. The
    /// function is called whenever tokens are needed.
    #[must_use]
    pub fn workload_identity<F, Fut>(self, assertion: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Secret, AuthError>> + Send + 'static,
    {
        let source: SecretSource = Arc::new(move || Box::pin(assertion()));
        self.update_settings(|settings| settings.grant_flow = GrantFlow::Workload(source))
    }

    /// Obtains tokens through the organisation's identity provider.
    #[must_use]
    pub fn identity_provider(self, provider: IdentityProvider) -> Self {
        self.update_settings(|settings| settings.grant_flow = GrantFlow::IdentityProvider(provider))
    }
}

impl GrantFlow {
    /// Returns whether no user is needed.
    pub(super) fn is_unattended(&self) -> bool {
        !matches!(self, Self::AuthorizationCode)
    }
}

impl AuthContext {
    /// Returns the configured authorization server, if nothing needs to be
    /// discovered.
    pub(super) fn configured_discovery(&self) -> Option<Discovery> {
        let endpoint = self.settings.token_endpoint.as_ref();
        let endpoint = endpoint.filter(|_| self.settings.grant_flow.is_unattended())?;
        let origin = well_known::origin(endpoint).unwrap_or_else(|| endpoint.clone());
        let mut server = ServerMetadata::with_default_endpoints(EndpointBase(&origin));
        if let Some(issuer) = &self.settings.issuer {
            server.issuer.clone_from(issuer);
        }
        server.token_endpoint = Some(endpoint.clone());
        Some(Discovery {
            resource: canonical_resource(self.account.server.as_str()),
            metadata: None,
            server,
        })
    }

    /// Obtains tokens ahead of any request, if the authorization server is
    /// configured.
    pub(super) async fn obtain_before_request(self) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        self.load_stored().await?;
        let Some(discovery) = self
            .configured_discovery()
            .filter(|_| self.account.tokens().is_none())
        else {
            return Ok(());
        };
        if let Some(error) = self.account.recent_failure() {
            return Err(error);
        }
        let scopes = self.settings.scopes.clone();
        let obtained = self
            .obtain(&discovery, scopes, &ChallengeSummary::default())
            .await;
        obtained.inspect_err(|error| self.account.record_failure(error))
    }

    /// Replaces tokens that are about to expire and have no refresh token.
    pub(super) async fn reobtain(&self, active: &ActiveTokens) -> Result<(), AuthError> {
        let challenge = ChallengeSummary {
            dpop_required: active.key.is_some(),
            ..ChallengeSummary::default()
        };
        let discovery = self.discover(&challenge).await?;
        self.obtain(&discovery, active.requested.clone(), &challenge)
            .await
    }

    /// Obtains tokens without a user.
    pub(super) async fn grant_unattended(
        &self,
        flow: &GrantFlow,
        discovery: &Discovery,
        scopes: &Scopes,
        key: Option<&Arc<DpopKey>>,
    ) -> Result<(RegisteredClient, Tokens), AuthError> {
        let issuer = &discovery.server.issuer;
        let registered = self.configured_client(issuer).await?.ok_or_else(|| {
            let reason = "no client id is configured for the authorization server of this server";
            AuthError::new(AuthErrorKind::NoClientId, reason)
        })?;
        let token_request = TokenRequest {
            server: &discovery.server,
            resource: &discovery.resource,
            registered: &registered,
            scopes,
            key: key.map(Arc::as_ref),
        };
        let tokens = match flow {
            GrantFlow::ClientCredentials | GrantFlow::AuthorizationCode => {
                self.exchange(&token_request, &Grant::ClientCredentials)
                    .await?
            }
            GrantFlow::Workload(assertion) => {
                let assertion = assertion().await?;
                self.exchange(&token_request, &Grant::JwtBearer(&assertion))
                    .await?
            }
            GrantFlow::IdentityProvider(provider) => {
                let assertion = self.identity_assertion(provider, discovery, scopes).await?;
                self.exchange(&token_request, &Grant::JwtBearer(&assertion))
                    .await?
            }
        };
        Ok((registered, tokens))
    }

    /// Obtains an assertion from the identity provider for the authorization
    /// server.
    async fn identity_assertion(
        &self,
        provider: &IdentityProvider,
        discovery: &Discovery,
        scopes: &Scopes,
    ) -> Result<Secret, AuthError> {
        let id_token = (provider.id_token)().await?;
        let grant = Grant::IdentityAssertion {
            id_token: &id_token,
            audience: &discovery.server.issuer,
        };
        let auth = ClientAuth {
            client_id: provider.client_id.clone(),
            method: match &provider.client_secret {
                Some(_) => ClientAuthMethod::ClientSecretPost,
                None => ClientAuthMethod::None,
            },
            secret: provider.client_secret.clone(),
        };
        let mut form = grant.form_fields(Some(&discovery.resource), scopes);
        form.extend(auth.form_fields());
        let endpoint = &provider.token_endpoint;
        let response = self.post_grant(endpoint, &form, &auth, None).await?;
        let tokens = parse_tokens(&response)?;
        const ID_JAG_TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:id-jag";
        if tokens.issued_token_type.as_deref() != Some(ID_JAG_TOKEN_TYPE) {
            let reason = "the identity provider issued a different token type than requested";
            return Err(AuthError::new(AuthErrorKind::Metadata, reason));
        }
        Ok(tokens.access_token)
    }
}

//! Tokens for programs that act on their own, or in the name of an organisation.

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

/// Something that gives a secret whenever one is needed.
type SecretSource = Arc<dyn Fn() -> BoxFuture<'static, Result<Secret, AuthError>> + Send + Sync>;

/// What a token is given for.
#[derive(Clone)]
pub(super) enum GrantFlow {
    /// A user signs in.
    AuthorizationCode,
    /// Who the client is, is enough.
    ClientCredentials,
    /// What the platform that we run on says of us.
    Workload(SecretSource),
    /// The user's sign-in at an identity provider.
    IdentityProvider(IdentityProvider),
}

/// A sign-in at the identity provider of an organisation, which decides which
/// servers its people may use: the extension `enterprise-managed-authorization`.
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
///     .enterprise(provider);
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

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityProvider")
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
        self.update_settings(|settings| settings.grant_flow = GrantFlow::ClientCredentials)
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
        self.update_settings(|settings| settings.token_endpoint = Some(url.to_owned()))
    }

    /// Gets tokens for what the platform says of this program: a signed
    /// statement (JWT) whose audience is the authorization server. It is asked
    /// for anew whenever tokens are needed.
    #[must_use]
    pub fn workload_identity<F, Fut>(self, assertion: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Secret, AuthError>> + Send + 'static,
    {
        let source: SecretSource = Arc::new(move || Box::pin(assertion()));
        self.update_settings(|settings| settings.grant_flow = GrantFlow::Workload(source))
    }

    /// Gets tokens by way of the organisation's identity provider.
    #[must_use]
    pub fn identity_provider(self, provider: IdentityProvider) -> Self {
        self.update_settings(|settings| settings.grant_flow = GrantFlow::IdentityProvider(provider))
    }
}

impl GrantFlow {
    /// Whether nobody has to be asked.
    pub(super) fn is_unattended(&self) -> bool {
        !matches!(self, Self::AuthorizationCode)
    }
}

impl AuthContext {
    /// The authorization server that the application named, where that is all
    /// there is to know of it.
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

    /// Gets tokens ahead of any request, where it is known who gives them.
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

    /// Tokens in place of those that are due, which have nothing that would
    /// renew them.
    pub(super) async fn reobtain(&self, active: &ActiveTokens) -> Result<(), AuthError> {
        let challenge = ChallengeSummary {
            dpop_required: active.key.is_some(),
            ..ChallengeSummary::default()
        };
        let discovery = self.discover(&challenge).await?;
        self.obtain(&discovery, active.requested.clone(), &challenge)
            .await
    }

    /// Tokens without a user at hand.
    pub(super) async fn grant_unattended(
        &self,
        flow: &GrantFlow,
        discovery: &Discovery,
        scopes: &Scopes,
        key: Option<&Arc<DpopKey>>,
    ) -> Result<(RegisteredClient, Tokens), AuthError> {
        let issuer = &discovery.server.issuer;
        let registered = self.configured_client(issuer).await?.ok_or_else(|| {
            let reason = "there is no client id for the authorization server of this server";
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

    /// The word of the identity provider, for the authorization server.
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
            let reason = "the identity provider gave something else than was asked for";
            return Err(AuthError::new(AuthErrorKind::Metadata, reason));
        }
        Ok(tokens.access_token)
    }
}

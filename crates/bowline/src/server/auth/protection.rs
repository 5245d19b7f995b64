//! Protection: the configuration of a server that requires tokens.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use zeroize::Zeroizing;

use super::{
    MetadataService, TokenVerifier, dpop::ProofChecker, https_url::HttpsUrl, metadata,
    nonce::Nonces, revocation_list::RevocationList, revoked_tokens::RevokedTokenStore, scope,
    token::Scheme, token_claims::ScopeImplication, used_proofs::UsedProofStore,
};
use crate::server::store::{StoreError, Stores};

/// Rejects requests without a token that was issued for this server. Cheap to
/// clone.
///
/// Pass it to [`HttpOptions::protection`](crate::server::http::HttpOptions) to
/// check every request and to publish where tokens can be obtained. See the
/// guide on protecting a server.
///
/// ```
/// use bowline::{
///     jose::{KeySet, SigningKey},
///     server::auth::{JwtVerifier, KeySource, Protection},
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let keys = KeySet::from(SigningKey::generate()?.public_key().clone());
/// let tokens = JwtVerifier::new("https://login.example.com", KeySource::fixed(keys));
/// let protection = Protection::builder("https://mcp.example.com/mcp")
///     .verifier(tokens)
///     .required_scopes(["mcp:use"])
///     .build()?;
/// assert_eq!(protection.metadata_path(), "/.well-known/oauth-protected-resource/mcp");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Protection(Arc<Inner>);

struct Inner {
    resource: HttpsUrl,
    metadata_url: HttpsUrl,
    audiences: Vec<Box<str>>,
    required_scopes: Vec<Box<str>>,
    scope_implication: Option<ScopeImplication>,
    verifiers: Vec<Box<dyn TokenVerifier>>,
    shares_opaque_tokens: bool,
    proof_checker: Option<ProofChecker>,
    revocations: RevocationList,
    document: Bytes,
}

impl Protection {
    /// Returns a builder to protect a resource: the URL of the server as
    /// clients write it.
    pub fn builder(resource: &str) -> ProtectionBuilder {
        ProtectionBuilder {
            resource: resource.to_owned(),
            audiences: Vec::new(),
            required_scopes: Vec::new(),
            additional_scopes: Vec::new(),
            scope_implication: None,
            verifiers: Vec::new(),
            shares_opaque_tokens: false,
            dpop: false,
            nonce_key: None,
            used_proof_store: None,
            revoked_token_store: None,
            name: None,
            documentation_url: None,
        }
    }

    /// Revokes a token: from now on it is rejected by this node, and within seconds by
    /// all that share the [store](ProtectionBuilder::revoked_token_store). `ttl` is how
    /// long it would have been valid. Streams that are open stay so until the token
    /// expires, or is verified again.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is full or failed. The token may or may not be
    /// revoked.
    pub async fn revoke(&self, token: &str, ttl: Duration) -> Result<(), StoreError> {
        self.0.revocations.revoke(token, ttl).await
    }

    /// Uses these stores, unless others were set.
    pub(crate) fn use_stores(&self, stores: &Stores) {
        if let Some((store, checker)) = stores.used_proofs.as_ref().zip(self.proof_checker()) {
            checker.set_store(Arc::clone(store));
        }
        if let Some(store) = &stores.revoked_tokens {
            self.0.revocations.set_store(Arc::clone(store));
        }
    }

    pub(super) fn revocations(&self) -> &RevocationList {
        &self.0.revocations
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.0.resource.as_str()
    }

    /// Returns the URL at which the metadata of RFC 9728 must be served.
    #[must_use]
    pub fn metadata_url(&self) -> &str {
        self.0.metadata_url.as_str()
    }

    /// Returns the path of [`metadata_url`](Self::metadata_url), for routers.
    #[must_use]
    pub fn metadata_path(&self) -> &str {
        self.0.metadata_url.path()
    }

    /// Returns a service that publishes the metadata, for routers. An
    /// [`HttpService`](crate::server::http::HttpService) serves that path by
    /// itself.
    #[must_use]
    pub fn metadata(&self) -> MetadataService {
        MetadataService::new(self.0.document.clone())
    }

    /// Returns the scopes that every request needs.
    pub(super) fn required_scopes(&self) -> &[Box<str>] {
        &self.0.required_scopes
    }

    pub(super) fn audiences(&self) -> &[Box<str>] {
        &self.0.audiences
    }

    /// Returns claims that another node has verified, with the scopes that they imply.
    #[cfg(feature = "cluster")]
    pub(crate) fn with_implied_scopes(&self, claims: super::TokenClaims) -> super::TokenClaims {
        claims.with_scope_implication(self.scope_implication().cloned())
    }

    pub(super) fn scope_implication(&self) -> Option<&ScopeImplication> {
        self.0.scope_implication.as_ref()
    }

    pub(super) fn verifiers(&self) -> &[Box<dyn TokenVerifier>] {
        &self.0.verifiers
    }

    /// Returns whether opaque tokens may be shown to several issuers.
    pub(super) fn shares_opaque_tokens(&self) -> bool {
        self.0.shares_opaque_tokens
    }

    pub(super) fn proof_checker(&self) -> Option<&ProofChecker> {
        self.0.proof_checker.as_ref()
    }

    /// Returns the nonce that proofs must contain now, if one is required.
    pub(crate) fn nonce(&self) -> Option<String> {
        self.proof_checker().and_then(ProofChecker::nonce)
    }

    pub(super) fn resource_url(&self) -> &HttpsUrl {
        &self.0.resource
    }

    pub(super) fn accepts_scheme(&self, scheme: Scheme) -> bool {
        scheme == Scheme::Bearer || self.0.proof_checker.is_some()
    }
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protection")
            .field("resource", &self.resource())
            .field("scopes", &self.0.required_scopes)
            .finish_non_exhaustive()
    }
}

/// Builds a [`Protection`].
#[must_use = "a builder protects nothing until it is built"]
pub struct ProtectionBuilder {
    pub(super) resource: String,
    audiences: Vec<Box<str>>,
    pub(super) required_scopes: Vec<Box<str>>,
    pub(super) additional_scopes: Vec<Box<str>>,
    scope_implication: Option<ScopeImplication>,
    pub(super) verifiers: Vec<Box<dyn TokenVerifier>>,
    shares_opaque_tokens: bool,
    pub(super) dpop: bool,
    nonce_key: Option<NonceKey>,
    used_proof_store: Option<Arc<dyn UsedProofStore>>,
    revoked_token_store: Option<Arc<dyn RevokedTokenStore>>,
    pub(super) name: Option<String>,
    pub(super) documentation_url: Option<String>,
}

enum NonceKey {
    Random,
    Provided(Zeroizing<Vec<u8>>),
}

impl ProtectionBuilder {
    /// Adds a verifier for the tokens of one issuer. Clients are directed to
    /// the issuers in this order.
    pub fn verifier(mut self, verifier: impl TokenVerifier) -> Self {
        self.verifiers.push(Box::new(verifier));
        self
    }

    /// Adds scopes that every token must have. A tool may require more with
    /// [`ToolBuilder::scope`](crate::server::tool::ToolBuilder::scope).
    pub fn required_scopes<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        scope::push_unique(&mut self.required_scopes, scopes);
        self
    }

    /// Adds scopes that some tools require, to be published along with the
    /// required ones. Clients may request all of them at once, so leave out
    /// scopes few clients need: they are reported when a call needs them.
    pub fn additional_scopes<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        scope::push_unique(&mut self.additional_scopes, scopes);
        self
    }

    /// Sets which scopes imply others: whether a granted scope (the first)
    /// satisfies a required one (the second).
    pub fn scope_implies(
        mut self,
        implies: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.scope_implication = Some(Arc::new(implies));
        self
    }

    /// Adds a name that issuers use for this server in addition to its URL. A
    /// token for another audience belongs to another server, and its sender
    /// should not have it.
    pub fn audience(mut self, audience: &str) -> Self {
        scope::push_unique(&mut self.audiences, [audience]);
        self
    }

    /// Accepts tokens bound to a key (DPoP, RFC 9449), with a proof for each
    /// request. Without this, such tokens are rejected: they must not be used
    /// as bearer tokens.
    pub fn dpop(mut self) -> Self {
        self.dpop = true;
        self
    }

    /// Like [`dpop`](Self::dpop), but every proof must contain a nonce that
    /// this server issued within the last minutes, so proofs cannot be made in
    /// advance. Clients that send none receive the nonce and retry. The key is
    /// random for this process, so this is for servers with one node; otherwise
    /// use [`dpop_nonces_with_key`](Self::dpop_nonces_with_key).
    pub fn dpop_nonces(mut self) -> Self {
        self.nonce_key = Some(NonceKey::Random);
        self.dpop()
    }

    /// Like [`dpop_nonces`](Self::dpop_nonces), with a secret key of at least
    /// 32 bytes that all nodes share.
    pub fn dpop_nonces_with_key(mut self, key: &[u8]) -> Self {
        self.nonce_key = Some(NonceKey::Provided(Zeroizing::new(key.to_vec())));
        self.dpop()
    }

    /// Sets the store of used DPoP proofs. All nodes must share it, or a proof can be
    /// used once at each. The default is that of
    /// [`Server::stores`](crate::server::Server::stores), or one in memory.
    pub fn used_proof_store(mut self, store: impl UsedProofStore) -> Self {
        self.used_proof_store = Some(Arc::new(store));
        self
    }

    /// Sets the store of [revoked](Protection::revoke) tokens. All nodes must share it.
    /// The default is that of [`Server::stores`](crate::server::Server::stores), or one
    /// in memory.
    pub fn revoked_token_store(mut self, store: impl RevokedTokenStore) -> Self {
        self.revoked_token_store = Some(Arc::new(store));
        self
    }

    /// Shows opaque tokens to one issuer after the other until one knows it.
    /// Each of them could use the token, so this is only for issuers with the
    /// same operator. Otherwise, give each
    /// [`IntrospectionVerifier`](super::IntrospectionVerifier) the
    /// [prefix](super::IntrospectionVerifier::token_prefix) of its tokens.
    pub fn share_opaque_tokens(mut self) -> Self {
        self.shares_opaque_tokens = true;
        self
    }

    /// Sets a human-readable name to publish.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the URL of the documentation for developers to publish.
    pub fn documentation_url(mut self, url: impl Into<String>) -> Self {
        self.documentation_url = Some(url.into());
        self
    }

    /// Builds the protection.
    ///
    /// # Errors
    ///
    /// Returns an error if a URL or a scope name is invalid, if there is no
    /// verifier, or if it is ambiguous which issuer a token is shown to.
    pub fn build(self) -> Result<Protection, ProtectionError> {
        let resource = HttpsUrl::parse(&self.resource)
            .map_err(|why| ProtectionError::new("resource", &self.resource, why))?;
        if self.verifiers.is_empty() {
            let why = "no token verifier is configured, add one with `verifier`";
            return Err(ProtectionError::new("resource", &self.resource, why));
        }
        for verifier in &self.verifiers {
            let issuer = verifier.issuer();
            HttpsUrl::parse(issuer).map_err(|why| ProtectionError::new("issuer", issuer, why))?;
        }
        for name in self.required_scopes.iter().chain(&self.additional_scopes) {
            if let Some(why) = scope::problem(name) {
                return Err(ProtectionError::new("scope", name, &why));
            }
        }
        self.check_token_prefixes()?;
        let proof_checker = self.build_proof_checker()?;
        if let Some((store, checker)) = self.used_proof_store.as_ref().zip(proof_checker.as_ref()) {
            checker.set_store(Arc::clone(store));
        }
        let revocations = RevocationList::default();
        if let Some(store) = &self.revoked_token_store {
            revocations.set_store(Arc::clone(store));
        }
        let document = Bytes::from(metadata::document(&self).to_string());
        let mut audiences = self.audiences;
        scope::push_unique(&mut audiences, [resource.as_str()]);
        let metadata = resource.well_known("oauth-protected-resource");
        Ok(Protection(Arc::new(Inner {
            shares_opaque_tokens: self.shares_opaque_tokens,
            proof_checker,
            revocations,
            metadata_url: metadata,
            resource,
            audiences,
            required_scopes: self.required_scopes,
            scope_implication: self.scope_implication,
            verifiers: self.verifiers,
            document,
        })))
    }
}

impl ProtectionBuilder {
    /// Checks that no two issuers would be shown the same tokens, unless that
    /// is allowed.
    fn check_token_prefixes(&self) -> Result<(), ProtectionError> {
        let prefixes: Vec<_> = self
            .verifiers
            .iter()
            .filter_map(|it| Some((it.issuer(), it.opaque_prefix()?)))
            .collect();
        for (index, (issuer, prefix)) in prefixes.iter().enumerate() {
            let conflict = prefixes[..index].iter().find(|(other, known)| {
                other != issuer && (known.starts_with(prefix) || prefix.starts_with(known))
            });
            if let Some((other, _)) = conflict.filter(|_| !self.shares_opaque_tokens) {
                let why = format!(
                    "its opaque tokens cannot be distinguished from those of {other:?}: set a \
                     `token_prefix` for both, or call `share_opaque_tokens`"
                );
                return Err(ProtectionError::new("issuer", issuer, &why));
            }
        }
        Ok(())
    }

    fn build_proof_checker(&self) -> Result<Option<ProofChecker>, ProtectionError> {
        let error = |why: &str| ProtectionError::new("nonce key for", &self.resource, why);
        let nonces = match &self.nonce_key {
            None => None,
            Some(NonceKey::Random) => {
                let nonces = Nonces::random();
                Some(nonces.ok_or_else(|| error("the system's random number generator failed"))?)
            }
            Some(NonceKey::Provided(key)) if key.len() < 32 => {
                return Err(error("the key must have at least 32 bytes"));
            }
            Some(NonceKey::Provided(key)) => Some(Nonces::new(key)),
        };
        Ok(self.dpop.then(|| ProofChecker::new(nonces)))
    }
}

impl fmt::Debug for ProtectionBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtectionBuilder")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

/// The reason a [`Protection`] cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectionError(String);

impl ProtectionError {
    fn new(what: &str, which: &str, why: &str) -> Self {
        Self(format!("the {what} {which:?}: {why}"))
    }
}

impl fmt::Display for ProtectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProtectionError {}

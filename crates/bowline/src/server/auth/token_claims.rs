//! The contents of a verified token.

use std::{fmt, sync::Arc, time::SystemTime};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::scope;

/// The subject, issuer and scopes of a verified token. Cheap to clone.
///
/// It holds the claims of the token, never the token itself. Tools read it with
/// [`HandlerContext::claims`](crate::server::HandlerContext::claims).
///
/// ```
/// use bowline::server::auth::TokenClaims;
///
/// let claims = TokenClaims::new("https://login.example.com", "ada")
///     .with_audience("https://mcp.example.com/mcp")
///     .with_scopes(["files:read"]);
/// assert_eq!(claims.subject(), Some("ada"));
/// assert!(claims.allows("files:read") && !claims.allows("files:write"));
/// ```
#[derive(Clone)]
pub struct TokenClaims(Arc<Inner>);

/// Returns whether a granted scope (the first) implies another one.
pub(super) type ScopeImplication = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// Claims that are stored with a task. Which scopes imply others is not: a task that
/// another node runs has the scopes that the token names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredClaims {
    #[serde(rename = "i")]
    issuer: Box<str>,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    subject: Option<Box<str>>,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    client_id: Option<Box<str>>,
    #[serde(rename = "a")]
    audiences: Vec<Box<str>>,
    #[serde(rename = "o")]
    scopes: Vec<Box<str>>,
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<SystemTime>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    key_thumbprint: Option<Box<str>>,
    #[serde(rename = "m")]
    claims: Map<String, Value>,
}

impl From<StoredClaims> for TokenClaims {
    fn from(stored: StoredClaims) -> Self {
        Self(Arc::new(Inner {
            issuer: stored.issuer,
            subject: stored.subject,
            client_id: stored.client_id,
            audiences: stored.audiences,
            scopes: stored.scopes,
            expires_at: stored.expires_at,
            key_thumbprint: stored.key_thumbprint,
            claims: stored.claims,
            scope_implication: None,
        }))
    }
}

impl TokenClaims {
    #[cfg(feature = "http-server")]
    pub(super) fn to_stored(&self) -> StoredClaims {
        let inner = Inner::clone(&self.0);
        StoredClaims {
            issuer: inner.issuer,
            subject: inner.subject,
            client_id: inner.client_id,
            audiences: inner.audiences,
            scopes: inner.scopes,
            expires_at: inner.expires_at,
            key_thumbprint: inner.key_thumbprint,
            claims: inner.claims,
        }
    }
}

#[derive(Clone)]
struct Inner {
    issuer: Box<str>,
    subject: Option<Box<str>>,
    client_id: Option<Box<str>>,
    audiences: Vec<Box<str>>,
    scopes: Vec<Box<str>>,
    expires_at: Option<SystemTime>,
    key_thumbprint: Option<Box<str>>,
    claims: Map<String, Value>,
    scope_implication: Option<ScopeImplication>,
}

/// Constructors, for custom token verifiers.
impl TokenClaims {
    /// Creates the claims of a token for a subject: a user, or a program with
    /// its own identity.
    #[must_use]
    pub fn new(issuer: &str, subject: &str) -> Self {
        Self::build(issuer, Some(subject), None)
    }

    /// Creates the claims of a token for a client that acts for itself, if the issuer names no
    /// subject.
    #[must_use]
    pub fn for_client(issuer: &str, client: &str) -> Self {
        Self::build(issuer, None, Some(client))
    }

    fn build(issuer: &str, subject: Option<&str>, client: Option<&str>) -> Self {
        Self(Arc::new(Inner {
            issuer: issuer.into(),
            subject: subject.map(Into::into),
            client_id: client.map(Into::into),
            audiences: Vec::new(),
            scopes: Vec::new(),
            expires_at: None,
            key_thumbprint: None,
            claims: Map::new(),
            scope_implication: None,
        }))
    }

    /// Adds an audience the token is meant for. A token without an audience is
    /// never accepted.
    #[must_use]
    pub fn with_audience(self, audience: &str) -> Self {
        self.modify(|inner| scope::push_unique(&mut inner.audiences, [audience]))
    }

    /// Sets the client that requested the token.
    #[must_use]
    pub fn with_client_id(self, client: &str) -> Self {
        self.modify(|inner| inner.client_id = Some(client.into()))
    }

    /// Adds scopes.
    #[must_use]
    pub fn with_scopes<'a>(self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.modify(|inner| scope::push_unique(&mut inner.scopes, scopes))
    }

    /// Sets the expiry. The verifier has to enforce it; this is for
    /// information.
    #[must_use]
    pub fn with_expiry(self, expires: SystemTime) -> Self {
        self.modify(|inner| inner.expires_at = Some(expires))
    }

    /// Binds the token to a key: it is only valid with a proof by the key with
    /// this thumbprint.
    #[must_use]
    pub fn with_key_thumbprint(self, thumbprint: &str) -> Self {
        self.modify(|inner| inner.key_thumbprint = Some(thumbprint.into()))
    }

    /// Sets all claims of the token.
    #[must_use]
    pub fn with_claims(self, claims: Map<String, Value>) -> Self {
        self.modify(|inner| inner.claims = claims)
    }

    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(super) fn with_scope_implication(self, implication: Option<ScopeImplication>) -> Self {
        self.modify(|inner| inner.scope_implication = implication)
    }

    fn modify(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

/// Accessors.
impl TokenClaims {
    /// Returns the issuer.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// Returns the subject, as named by the issuer.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.0.subject.as_deref()
    }

    /// Returns the client that requested the token, if known.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.0.client_id.as_deref()
    }

    /// Iterates over the audiences.
    pub fn audiences(&self) -> impl Iterator<Item = &str> {
        self.0.audiences.iter().map(|name| &**name)
    }

    /// Iterates over the names of the granted scopes. Use
    /// [`allows`](Self::allows) to check a scope: one may imply another.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.scopes.iter().map(|name| &**name)
    }

    /// Returns whether the token includes or implies this scope.
    #[must_use]
    pub fn allows(&self, scope: &str) -> bool {
        let implication = self.0.scope_implication.as_ref();
        self.scopes().any(|granted| {
            granted == scope || implication.is_some_and(|implies| implies(granted, scope))
        })
    }

    /// Returns when the token expires, if known.
    #[must_use]
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.0.expires_at
    }

    /// Returns the thumbprint of the key that the token is bound to.
    #[must_use]
    pub fn key_thumbprint(&self) -> Option<&str> {
        self.0.key_thumbprint.as_deref()
    }

    /// Returns all claims of the token.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0.claims
    }

    /// Returns one claim, or `None` if it is missing or has another type.
    #[must_use]
    pub fn claim<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.0.claims.get(name)?).ok()
    }

    /// Returns a name for the holder, built from issuer and subject, that no
    /// other holder has. Sessions and conversations are bound to it.
    #[must_use]
    pub fn principal(&self) -> String {
        // Issuer URLs contain no spaces, so no subject can pass for another
        // one, or for a client. One of the two is always present: grants are
        // created with it, and tokens that have neither, or an empty one, are
        // rejected.
        let (kind, name) = match self.subject() {
            Some(subject) => ("sub", subject),
            None => ("client", self.client_id().unwrap_or_default()),
        };
        format!("{} {kind} {name}", self.issuer())
    }
}

impl fmt::Debug for TokenClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Claims are personal data and are left out.
        f.debug_struct("TokenClaims")
            .field("issuer", &self.0.issuer)
            .field("client", &self.0.client_id)
            .field("scopes", &self.0.scopes)
            .finish_non_exhaustive()
    }
}

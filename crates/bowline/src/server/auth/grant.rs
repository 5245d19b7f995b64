//! What a token says: who may do what, and who says so.

use std::{fmt, sync::Arc, time::SystemTime};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::scope;

/// What a token grants, to whom, and who says so. Cheap to clone.
///
/// It has the words of the token, never the token itself. Tools find it at
/// [`ServerContext::grant`](crate::server::ServerContext::grant).
///
/// ```
/// use bowline::server::auth::Grant;
///
/// let grant = Grant::new("https://login.example.com", "ada")
///     .for_audience("https://mcp.example.com/mcp")
///     .with_scopes(["files:read"]);
/// assert_eq!(grant.subject(), Some("ada"));
/// assert!(grant.allows("files:read") && !grant.allows("files:write"));
/// ```
#[derive(Clone)]
pub struct Grant(Arc<Inner>);

/// Whether a scope that somebody has is good for another one.
pub(super) type ScopeImplication = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

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

/// Making one, for those who verify tokens themselves.
impl Grant {
    /// A grant by an issuer to a subject: a user, or a program of its own.
    #[must_use]
    pub fn new(issuer: &str, subject: &str) -> Self {
        Self::build(issuer, Some(subject), None)
    }

    /// A grant to a client that acts for itself, where the issuer names no
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

    /// Whom the token is meant for; one more each time. A grant for nobody is
    /// accepted by nobody.
    #[must_use]
    pub fn with_audience(self, audience: &str) -> Self {
        self.modify(|inner| scope::push_unique(&mut inner.audiences, [audience]))
    }

    /// Which client asked for the token.
    #[must_use]
    pub fn with_client_id(self, client: &str) -> Self {
        self.modify(|inner| inner.client_id = Some(client.into()))
    }

    /// What it may be used for; more each time.
    #[must_use]
    pub fn with_scopes<'a>(self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.modify(|inner| scope::push_unique(&mut inner.scopes, scopes))
    }

    /// How long it is good. Whoever verifies a token sees to that; this is for
    /// those who want to know.
    #[must_use]
    pub fn with_expiry(self, expires: SystemTime) -> Self {
        self.modify(|inner| inner.expires_at = Some(expires))
    }

    /// The token is good only together with a proof by the key of this
    /// thumbprint.
    #[must_use]
    pub fn with_key_thumbprint(self, thumbprint: &str) -> Self {
        self.modify(|inner| inner.key_thumbprint = Some(thumbprint.into()))
    }

    /// All that the token says.
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

/// Reading it.
impl Grant {
    /// Who says so.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// To whom it is granted, in the words of the issuer.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.0.subject.as_deref()
    }

    /// Which client asked for it, where that is known.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.0.client_id.as_deref()
    }

    /// Whom it is meant for.
    pub fn audiences(&self) -> impl Iterator<Item = &str> {
        self.0.audiences.iter().map(|name| &**name)
    }

    /// What it may be used for, by name. Ask [`allows`](Self::allows) whether
    /// one of them is good for something.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.scopes.iter().map(|name| &**name)
    }

    /// Whether it may be used for this.
    #[must_use]
    pub fn allows(&self, scope: &str) -> bool {
        let implication = self.0.scope_implication.as_ref();
        self.scopes().any(|granted| {
            granted == scope || implication.is_some_and(|implies| implies(granted, scope))
        })
    }

    /// How long it is good, where that is known.
    #[must_use]
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.0.expires_at
    }

    /// The thumbprint of the key that the token is bound to.
    #[must_use]
    pub fn key_thumbprint(&self) -> Option<&str> {
        self.0.key_thumbprint.as_deref()
    }

    /// All that the token says.
    #[must_use]
    pub fn claims(&self) -> &Map<String, Value> {
        &self.0.claims
    }

    /// One thing that the token says; nothing if it does not, or says
    /// something of another type.
    #[must_use]
    pub fn claim<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.0.claims.get(name)?).ok()
    }

    /// One name for the holder, by issuer and subject, that no other holder
    /// has. Sessions and conversations are bound to it.
    #[must_use]
    pub fn principal(&self) -> String {
        // There are no blanks in the addresses of issuers; whatever a subject
        // is called, it cannot pass for another one, nor for a client.
        // There is one of the two: a grant is made with it, and a token that has
        // neither, or an empty one, is refused.
        let (kind, name) = match self.subject() {
            Some(subject) => ("sub", subject),
            None => ("client", self.client_id().unwrap_or_default()),
        };
        format!("{} {kind} {name}", self.issuer())
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Claims are about people, and are left out.
        f.debug_struct("Grant")
            .field("issuer", &self.0.issuer)
            .field("client", &self.0.client_id)
            .field("scopes", &self.0.scopes)
            .finish_non_exhaustive()
    }
}

/// What whoever sent a request may do.
#[derive(Clone, Default)]
pub(crate) enum Permissions {
    /// Nobody said what its sender may do, and it came from anywhere.
    #[default]
    NoScopes,
    /// Nobody asks for tokens there: whoever holds the other end of a pipe may
    /// do everything.
    AllScopes,
    #[cfg(feature = "http-server")]
    Granted(Grant),
}

impl Permissions {
    /// What a request over HTTP brings.
    #[cfg(feature = "http-server")]
    pub(crate) fn from_extensions(extensions: &http::Extensions) -> Self {
        let grant = extensions.get::<Grant>();
        grant.map_or(Self::NoScopes, |grant| Self::Granted(grant.clone()))
    }

    pub(crate) fn grant(&self) -> Option<&Grant> {
        match self {
            #[cfg(feature = "http-server")]
            Self::Granted(grant) => Some(grant),
            _ => None,
        }
    }

    /// Whether all of these scopes are granted.
    pub(crate) fn allows(&self, scopes: &[Box<str>]) -> bool {
        let each = |allowed: &dyn Fn(&str) -> bool| scopes.iter().all(|scope| allowed(scope));
        match self {
            Self::NoScopes => each(&|_| false),
            Self::AllScopes => each(&|_| true),
            #[cfg(feature = "http-server")]
            Self::Granted(grant) => each(&|scope| grant.allows(scope)),
        }
    }
}

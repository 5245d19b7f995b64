//! Issuer keys: sources and caching.

use std::{
    fmt,
    sync::{Arc, RwLock},
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};

use super::{
    VerifyError,
    https_url::HttpsUrl,
    issuer_fetch::{FETCH_TIMEOUT, IssuerFetch},
};
use crate::{
    fetch::{Fetch, FetchError},
    jose::KeySet,
    sync,
};

/// How long keys are used before they are fetched again.
const DEFAULT_FRESH_TTL: Duration = Duration::from_secs(10 * 60);
/// How long keys are used if they cannot be fetched again.
const DEFAULT_STALE_TTL: Duration = Duration::from_secs(60 * 60);
/// The minimum time between two fetches.
const DEFAULT_MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(30);

/// The source of an issuer's keys.
///
/// Fetched keys are cached for ten minutes. A token that names an unknown key
/// causes another fetch, so issuers can rotate keys at any time, but never
/// twice within 30 seconds, whatever tokens arrive. If keys cannot be fetched,
/// the old ones are used for up to an hour.
pub struct KeySource {
    origin: KeyOrigin,
    fresh_ttl: Duration,
    stale_ttl: Duration,
    min_refresh_interval: Duration,
}

enum KeyOrigin {
    Fixed(Arc<KeySet>),
    Url(String, IssuerFetch),
    Discovered(IssuerFetch),
}

impl KeySource {
    /// Uses these keys only.
    #[must_use]
    pub fn fixed(keys: KeySet) -> Self {
        Self::with_origin(KeyOrigin::Fixed(Arc::new(keys)))
    }

    /// Fetches keys from this URL.
    pub fn from_url(url: &str, fetch: impl Fetch) -> Self {
        Self::with_origin(KeyOrigin::Url(url.to_owned(), IssuerFetch::new(fetch)))
    }

    /// Fetches keys from the URL in the issuer's metadata.
    pub fn discovered(fetch: impl Fetch) -> Self {
        Self::with_origin(KeyOrigin::Discovered(IssuerFetch::new(fetch)))
    }

    const fn with_origin(origin: KeyOrigin) -> Self {
        Self {
            origin,
            fresh_ttl: DEFAULT_FRESH_TTL,
            stale_ttl: DEFAULT_STALE_TTL,
            min_refresh_interval: DEFAULT_MIN_REFRESH_INTERVAL,
        }
    }

    /// Sets how long keys are used before they are fetched again, and how long
    /// if they cannot be.
    #[must_use]
    pub fn cache_ttl(mut self, fresh: Duration, stale: Duration) -> Self {
        (self.fresh_ttl, self.stale_ttl) = (fresh, stale.max(fresh));
        self
    }

    /// Sets the minimum time between two fetches.
    #[must_use]
    pub fn min_refresh_interval(mut self, interval: Duration) -> Self {
        self.min_refresh_interval = interval;
        self
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match &self.origin {
            KeyOrigin::Fixed(_) => "fixed",
            KeyOrigin::Url(url, _) => url,
            KeyOrigin::Discovered(_) => "published",
        };
        f.debug_struct("KeySource")
            .field("source", &source)
            .finish_non_exhaustive()
    }
}

/// The cached keys of an issuer.
pub(super) struct KeyCache(Arc<Inner>);

struct Inner {
    issuer: Box<str>,
    source: KeySource,
    cached: RwLock<Option<CachedKeys>>,
    /// The time of the last fetch. The lock is held while fetching.
    last_refresh: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct CachedKeys {
    keys: Arc<KeySet>,
    fetched_at: Instant,
}

impl KeyCache {
    pub(super) fn new(issuer: &str, keys: KeySource) -> Self {
        Self(Arc::new(Inner {
            issuer: issuer.into(),
            source: keys,
            cached: RwLock::new(None),
            last_refresh: Mutex::new(None),
        }))
    }

    pub(super) fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// Returns the keys to verify a token that names this key, if it names one.
    pub(super) async fn keys_for_id(&self, id: Option<&str>) -> Result<Arc<KeySet>, VerifyError> {
        if let KeyOrigin::Fixed(keys) = &self.0.source.origin {
            return Ok(Arc::clone(keys));
        }
        if let Some(known) = self
            .0
            .cached()
            .filter(|known| self.0.is_sufficient(known, id))
        {
            return Ok(known.keys);
        }
        let (inner, id) = (Arc::clone(&self.0), id.map(ToOwned::to_owned));
        // On its own task: if the caller is dropped, the fetch still completes
        // for the callers that follow.
        let refreshing = tokio::spawn(async move { inner.refresh(id.as_deref()).await });
        // If the fetch fails, the old keys may do.
        let _ = refreshing.await;
        let known = self.0.cached();
        let known = known.filter(|known| known.fetched_at.elapsed() < self.0.source.stale_ttl);
        known
            .map(|known| known.keys)
            .ok_or(VerifyError::Unavailable)
    }

    /// Fetches keys now, unless some are cached.
    pub(super) async fn prefetch(&self) -> Result<(), FetchError> {
        if matches!(&self.0.source.origin, KeyOrigin::Fixed(_)) {
            return Ok(());
        }
        self.0.refresh(None).await
    }
}

impl Inner {
    fn cached(&self) -> Option<CachedKeys> {
        let known = sync::read(&self.cached);
        known.clone()
    }

    /// Returns whether no fetch is needed.
    fn is_sufficient(&self, known: &CachedKeys, id: Option<&str>) -> bool {
        known.fetched_at.elapsed() < self.source.fresh_ttl
            && id.is_none_or(|id| known.keys.contains_id(id))
    }

    /// Fetches keys, one fetch at a time and not too often.
    async fn refresh(&self, id: Option<&str>) -> Result<(), FetchError> {
        let mut refreshed_at = self.last_refresh.lock().await;
        let known = self.cached();
        let is_cached = known.is_some_and(|known| self.is_sufficient(&known, id));
        if is_cached
            || refreshed_at.is_some_and(|last| last.elapsed() < self.source.min_refresh_interval)
        {
            return Ok(());
        }
        *refreshed_at = Some(Instant::now());
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.fetch()).await;
        let keys = fetched.map_err(|_| FetchError::new("the request timed out after 5s"))??;
        let known = CachedKeys {
            keys: Arc::new(keys),
            fetched_at: Instant::now(),
        };
        *sync::write(&self.cached) = Some(known);
        Ok(())
    }

    async fn fetch(&self) -> Result<KeySet, FetchError> {
        let (url, fetch) = match &self.source.origin {
            KeyOrigin::Fixed(keys) => return Ok(KeySet::clone(keys)),
            KeyOrigin::Url(url, fetch) => (url.clone(), fetch),
            KeyOrigin::Discovered(fetch) => (self.discover_url(fetch).await?, fetch),
        };
        let keys = KeySet::from_json(&fetch.get(&url).await?);
        keys.map_err(|error| FetchError::new(format!("{url}: {error}")))
    }

    /// Finds the URL of the keys in the issuer's metadata.
    async fn discover_url(&self, fetch: &IssuerFetch) -> Result<String, FetchError> {
        let issuer = HttpsUrl::parse(&self.issuer).map_err(FetchError::new)?;
        // RFC 8414, 3.1: a trailing slash of the path is removed.
        let path = issuer.path().trim_end_matches('/');
        let paths = [
            format!("/.well-known/oauth-authorization-server{path}"),
            format!("/.well-known/openid-configuration{path}"),
            format!("{path}/.well-known/openid-configuration"),
        ];
        let mut errors = Vec::new();
        for location in paths {
            let location = issuer.with_path(&location);
            match fetch
                .get(location.as_str())
                .await
                .and_then(|body| self.jwks_uri(&body))
            {
                Ok(url) => return Ok(url),
                Err(error) => errors.push(error.to_string()),
            }
        }
        Err(FetchError::new(errors.join("; ")))
    }

    /// Returns the URL of the keys. Metadata of another issuer is rejected.
    fn jwks_uri(&self, metadata: &[u8]) -> Result<String, FetchError> {
        let metadata: Metadata = serde_json::from_slice(metadata)
            .map_err(|_| FetchError::new("the issuer's metadata has no jwks_uri"))?;
        if *metadata.issuer != *self.issuer {
            let why = format!(
                "the metadata belongs to another issuer: {:?}",
                metadata.issuer
            );
            return Err(FetchError::new(why));
        }
        Ok(metadata.jwks_uri)
    }
}

/// The fields of an issuer's metadata that are used here.
#[derive(serde::Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

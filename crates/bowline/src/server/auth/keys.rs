//! The keys of an issuer: where they are found, and how long they are kept.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};

use super::{
    Fetch, FetchError, Refusal,
    address::Address,
    fetch::{Limited, TIME},
};
use crate::jose::KeySet;

/// How long keys are used before they are looked for again.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// How long they are used if they cannot be had again.
const STALE: Duration = Duration::from_secs(60 * 60);
/// How long to wait between two looks, whoever asks.
const PAUSE: Duration = Duration::from_secs(30);

/// Where an issuer's keys are found.
///
/// Keys that are fetched are kept for ten minutes. A token that names a key
/// which is not among them has them fetched again, so that issuers can change
/// keys at any time; but never twice within half a minute, whatever tokens come.
/// If they cannot be had, the old ones are used for an hour, and no longer.
pub struct Keys {
    source: Source,
    fresh: Duration,
    stale: Duration,
    pause: Duration,
}

enum Source {
    Fixed(Arc<KeySet>),
    At(String, Limited),
    Published(Limited),
}

impl Keys {
    /// These, and never others.
    #[must_use]
    pub fn fixed(keys: KeySet) -> Self {
        Self::of(Source::Fixed(Arc::new(keys)))
    }

    /// Those at this address.
    pub fn at(url: &str, fetch: impl Fetch) -> Self {
        Self::of(Source::At(url.to_owned(), Limited::new(fetch)))
    }

    /// Those that the issuer's metadata points to.
    pub fn published(fetch: impl Fetch) -> Self {
        Self::of(Source::Published(Limited::new(fetch)))
    }

    const fn of(source: Source) -> Self {
        Self {
            source,
            fresh: FRESH,
            stale: STALE,
            pause: PAUSE,
        }
    }

    /// How long keys are used before they are looked for again, and how long if
    /// they cannot be had.
    #[must_use]
    pub fn kept_for(mut self, fresh: Duration, at_most: Duration) -> Self {
        (self.fresh, self.stale) = (fresh, at_most.max(fresh));
        self
    }

    /// How long to wait between two looks.
    #[must_use]
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match &self.source {
            Source::Fixed(_) => "fixed",
            Source::At(url, _) => url,
            Source::Published(_) => "published",
        };
        f.debug_struct("Keys")
            .field("source", &source)
            .finish_non_exhaustive()
    }
}

/// The keys of an issuer, as far as they are known.
pub(super) struct Keyring(Arc<Inner>);

struct Inner {
    issuer: Box<str>,
    keys: Keys,
    known: RwLock<Option<Known>>,
    /// When somebody last went to look. Whoever holds it is there.
    looked: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct Known {
    keys: Arc<KeySet>,
    since: Instant,
}

impl Keyring {
    pub(super) fn new(issuer: &str, keys: Keys) -> Self {
        Self(Arc::new(Inner {
            issuer: issuer.into(),
            keys,
            known: RwLock::new(None),
            looked: Mutex::new(None),
        }))
    }

    pub(super) fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// The keys to verify a token with that names this key, or none.
    pub(super) async fn for_key(&self, id: Option<&str>) -> Result<Arc<KeySet>, Refusal> {
        if let Source::Fixed(keys) = &self.0.keys.source {
            return Ok(Arc::clone(keys));
        }
        if let Some(known) = self.0.known().filter(|known| self.0.will_do(known, id)) {
            return Ok(known.keys);
        }
        let (inner, id) = (Arc::clone(&self.0), id.map(ToOwned::to_owned));
        // On a task of its own: whoever goes away while we look must not make
        // the look in vain for all who come next.
        let looking = tokio::spawn(async move { inner.look(id.as_deref()).await });
        // Where there are no others, the old ones may do.
        let _ = looking.await;
        let known = self.0.known();
        let known = known.filter(|known| known.since.elapsed() < self.0.keys.stale);
        known.map(|known| known.keys).ok_or(Refusal::Unavailable)
    }

    /// Looks for keys now, unless there are some.
    pub(super) async fn ready(&self) -> Result<(), FetchError> {
        if matches!(&self.0.keys.source, Source::Fixed(_)) {
            return Ok(());
        }
        self.0.look(None).await
    }
}

impl Inner {
    fn known(&self) -> Option<Known> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// Whether nobody need look for other keys.
    fn will_do(&self, known: &Known, id: Option<&str>) -> bool {
        known.since.elapsed() < self.keys.fresh && id.is_none_or(|id| known.keys.names(id))
    }

    /// Looks for keys, one at a time and not too often.
    async fn look(&self, id: Option<&str>) -> Result<(), FetchError> {
        let mut looked = self.looked.lock().await;
        let known = self.known();
        let there = known.is_some_and(|known| self.will_do(&known, id));
        if there || looked.is_some_and(|last| last.elapsed() < self.keys.pause) {
            return Ok(());
        }
        *looked = Some(Instant::now());
        let fetched = tokio::time::timeout(TIME, self.fetch()).await;
        let keys = fetched.map_err(|_| FetchError::new("it took too long"))??;
        let known = Known {
            keys: Arc::new(keys),
            since: Instant::now(),
        };
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(())
    }

    async fn fetch(&self) -> Result<KeySet, FetchError> {
        let (url, fetch) = match &self.keys.source {
            Source::Fixed(keys) => return Ok(KeySet::clone(keys)),
            Source::At(url, fetch) => (url.clone(), fetch),
            Source::Published(fetch) => (self.find(fetch).await?, fetch),
        };
        let keys = KeySet::from_json(&fetch.get(&url).await?);
        keys.map_err(|error| FetchError::new(format!("{url}: {error}")))
    }

    /// Finds the address of the keys in the issuer's metadata.
    async fn find(&self, fetch: &Limited) -> Result<String, FetchError> {
        let issuer = Address::parse(&self.issuer).map_err(FetchError::new)?;
        // A slash at the end of the path is dropped here: RFC 8414, 3.1.
        let path = issuer.path().trim_end_matches('/');
        let places = [
            format!("/.well-known/oauth-authorization-server{path}"),
            format!("/.well-known/openid-configuration{path}"),
            format!("{path}/.well-known/openid-configuration"),
        ];
        let mut troubles = Vec::new();
        for place in places {
            let place = issuer.at(&place);
            match fetch
                .get(place.text())
                .await
                .and_then(|body| self.read(&body))
            {
                Ok(url) => return Ok(url),
                Err(error) => troubles.push(error.to_string()),
            }
        }
        Err(FetchError::new(troubles.join("; ")))
    }

    /// Whoever says to be somebody else is not asked for keys.
    fn read(&self, metadata: &[u8]) -> Result<String, FetchError> {
        let metadata: Metadata = serde_json::from_slice(metadata)
            .map_err(|_| FetchError::new("the issuer's metadata names no keys"))?;
        if *metadata.issuer != *self.issuer {
            let why = format!("the metadata is that of {:?}", metadata.issuer);
            return Err(FetchError::new(why));
        }
        Ok(metadata.jwks_uri)
    }
}

/// What an issuer publishes about itself, as far as it matters here.
#[derive(serde::Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

//! Tokens that only their issuer can read (RFC 7662).

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};
use serde_json::{Map, Value};
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::{
    AccessToken, Fetch, Grant, Refusal, TokenVerifier, claims,
    fetch::Limited,
    throttle::{About, Throttle},
};
use crate::{jose::digest, proto::auth::Secret, transport::BoxFuture};

/// How long an answer is believed: for as long, a token that was revoked is
/// still good here.
const BELIEVED: Duration = Duration::from_secs(15);
/// How many answers are kept.
const MOST_KEPT: usize = 10_000;

/// Asks the issuer about every token.
///
/// Answers, good and bad ones, are believed for 15 seconds, or as long as is
/// [said](Self::believed_for). They are kept under a digest of the token, not
/// under the token. However many requests bring a token, there is one question
/// about it at a time.
///
/// The issuer is asked about 100 tokens a second and 32 at once, unless
/// [others](Self::max_calls_per_second) are [given](Self::max_concurrent_calls).
/// Requests beyond that get 503, but for those whose tokens were good before: a
/// quarter of the calls at once is kept for them. Of what is left for tokens
/// that nobody knows yet, one address may have a quarter, so that whoever makes
/// tokens up shuts nobody else out.
///
/// Whoever is shown a token can use it, so that one whose issuer can be read is
/// shown to no other. Where several issuers have tokens that cannot be read,
/// each needs a [prefix](Self::token_prefix).
pub struct Introspection {
    issuer: Box<str>,
    endpoint: Box<str>,
    fetch: Limited,
    credentials: Secret,
    audience: Option<Box<str>>,
    prefix: Box<str>,
    believed: Duration,
    throttle: Throttle,
    answers: Mutex<HashMap<String, Answer>>,
}

struct Answer {
    said: Result<Grant, Refusal>,
    until: Instant,
}

impl Introspection {
    /// Asks the issuer at this endpoint, as a client that it knows by id and
    /// secret.
    pub fn new(
        issuer: &str,
        endpoint: &str,
        (client_id, secret): (&str, &str),
        fetch: impl Fetch,
    ) -> Self {
        // Both parts are encoded like forms first: RFC 6749, 2.3.1.
        let (client_id, secret) = (form_encoded(client_id), form_encoded(secret));
        let pair = Zeroizing::new([client_id.as_str(), secret.as_str()].join(":"));
        // With room for all of it: what is moved is left behind.
        let mut credentials = String::with_capacity(8 + 4 * pair.len().div_ceil(3));
        credentials.push_str("Basic ");
        STANDARD.encode_string(&*pair, &mut credentials);
        Self {
            issuer: issuer.into(),
            endpoint: endpoint.into(),
            fetch: Limited::new(fetch),
            credentials: Secret::new(credentials),
            audience: None,
            prefix: Box::default(),
            believed: BELIEVED,
            throttle: Throttle::new(),
            answers: Mutex::default(),
        }
    }

    /// The audience of tokens whose issuer names none in its answers. Only for
    /// issuers that call the tokens of others inactive when we ask.
    #[must_use]
    pub fn audience_unless_named(mut self, audience: &str) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// How long answers are believed.
    #[must_use]
    pub fn believed_for(mut self, believed: Duration) -> Self {
        self.believed = believed;
        self
    }

    /// What all tokens of this issuer begin with, if they are not signed ones
    /// that name it. The issuer is asked about no others.
    #[must_use]
    pub fn token_prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How many tokens the issuer is asked about at once, at most.
    #[must_use]
    pub fn max_concurrent_calls(mut self, most: usize) -> Self {
        self.throttle.set_concurrent(most);
        self
    }

    /// How many tokens the issuer is asked about in a second, at most. Those
    /// that were good before do not count.
    #[must_use]
    pub fn max_calls_per_second(mut self, most: u32) -> Self {
        self.throttle.set_per_second(most);
        self
    }

    async fn judge(&self, token: AccessToken<'_>) -> Result<Grant, Refusal> {
        let key = digest(token.secret().as_bytes());
        if let Some(said) = self.remembered(&key) {
            return said;
        }
        let asking = async {
            let said = self.ask(token).await;
            // What could not be known may be known the next time.
            if !matches!(said, Err(Refusal::Unavailable)) {
                self.remember(key.clone(), &said);
            }
            said
        };
        let about = About {
            key: &key,
            was_good: self.was_good(&key),
            peer: token.peer(),
        };
        self.throttle.ask(about, asking).await
    }

    async fn ask(&self, token: AccessToken<'_>) -> Result<Grant, Refusal> {
        let credentials = wiped_bytes(self.credentials.expose().as_bytes());
        let credentials = HeaderValue::from_maybe_shared(credentials);
        let mut credentials = credentials.map_err(|_| Refusal::Unavailable)?;
        credentials.set_sensitive(true);
        let request = Request::builder()
            .method(Method::POST)
            .uri(&*self.endpoint)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::AUTHORIZATION, credentials)
            .body(question(token));
        let request = request.map_err(|_| Refusal::Unavailable)?;
        let answer = self.fetch.fetch(request).await;
        let answer = answer.map_err(|_| Refusal::Unavailable)?;
        let said: Map<String, Value> =
            serde_json::from_slice(&answer).map_err(|_| Refusal::Unavailable)?;
        if said.get("active") != Some(&Value::Bool(true)) {
            return Err(Refusal::Invalid("the token is not active"));
        }
        let issuer = said.get("iss").and_then(Value::as_str);
        if issuer.is_some_and(|issuer| *issuer != *self.issuer) {
            return Err(Refusal::Invalid("the token is from another issuer"));
        }
        if said.contains_key("exp") {
            claims::in_time(&said, Duration::ZERO)?;
        }
        let unnamed = !said.contains_key("aud");
        let grant = claims::read(&self.issuer, said)?;
        Ok(match &self.audience {
            Some(audience) if unnamed => grant.for_audience(audience),
            _ => grant,
        })
    }

    fn remembered(&self, key: &str) -> Option<Result<Grant, Refusal>> {
        let answers = self.answers();
        let answer = answers.get(key).filter(|it| it.until > Instant::now())?;
        Some(answer.said.clone())
    }

    /// Whether a token was good when it was last asked about.
    fn was_good(&self, key: &str) -> bool {
        let answers = self.answers();
        answers.get(key).is_some_and(|answer| answer.said.is_ok())
    }

    fn remember(&self, key: String, said: &Result<Grant, Refusal>) {
        let expires = said.as_ref().ok().and_then(Grant::expires);
        let left = expires.map(|it| it.duration_since(SystemTime::now()).unwrap_or_default());
        let now = Instant::now();
        let until = now + left.map_or(self.believed, |left| left.min(self.believed));
        let mut answers = self.answers();
        // Good ones are kept longer: that they were good counts for something.
        if answers.len() >= MOST_KEPT {
            answers.retain(|_, answer| answer.until > now || answer.said.is_ok());
        }
        if answers.len() >= MOST_KEPT {
            answers.retain(|_, answer| answer.until > now);
        }
        if answers.len() < MOST_KEPT || answers.contains_key(&key) {
            let said = said.clone();
            answers.insert(key, Answer { said, until });
        }
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<String, Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenVerifier for Introspection {
    fn issuer(&self) -> &str {
        &self.issuer
    }

    fn opaque_prefix(&self) -> Option<&str> {
        Some(&self.prefix)
    }

    fn verify<'a>(&'a self, token: AccessToken<'a>) -> BoxFuture<'a, Result<Grant, Refusal>> {
        Box::pin(self.judge(token))
    }
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection")
            .field("issuer", &self.issuer)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// The question about a token, as a form.
fn question(token: AccessToken<'_>) -> Bytes {
    let token = form_encoded(token.secret());
    let form = ["token=", token.as_str(), "&token_type_hint=access_token"].concat();
    Bytes::from_owner(Zeroizing::new(form.into_bytes()))
}

/// A copy that is wiped when the last who hold it let go.
fn wiped_bytes(bytes: &[u8]) -> Bytes {
    Bytes::from_owner(Zeroizing::new(bytes.to_vec()))
}

/// As forms are written. With room for all of it from the beginning: what is
/// moved is left behind, and is not wiped.
fn form_encoded(text: &str) -> Zeroizing<String> {
    let mut encoded = Zeroizing::new(String::with_capacity(3 * text.len()));
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    encoded
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::*;

    fn is_wiped(_: &impl ZeroizeOnDrop) {}

    #[test]
    fn copies_of_secrets_are_wiped_and_never_moved() {
        let secret = "~s:cret/+".repeat(1000);
        let encoded = form_encoded(&secret);
        is_wiped(&encoded);
        assert!(encoded.starts_with("%7Es%3Acret%2F%2B%7E"));
        // As it was made: it did not grow.
        assert_eq!(encoded.capacity(), 3 * secret.len());
    }
}

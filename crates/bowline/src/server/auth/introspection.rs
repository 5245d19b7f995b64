//! Tokens that only their issuer can read (RFC 7662).

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Method, Request, header};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{AccessToken, Fetch, Grant, Refusal, TokenVerifier, claims, fetch::Limited};
use crate::{jose::digest, transport::BoxFuture};

/// How long an answer is believed: for as long, a token that was revoked is
/// still good here.
const BELIEVED: Duration = Duration::from_secs(15);
/// How many answers are kept.
const MOST_KEPT: usize = 10_000;

/// Asks the issuer about every token.
///
/// Answers are believed for 15 seconds, or as long as is [said](Self::believed_for).
/// They are kept under a digest of the token, not under the token.
pub struct Introspection {
    issuer: Box<str>,
    endpoint: Box<str>,
    fetch: Limited,
    credentials: Box<str>,
    audience: Option<Box<str>>,
    believed: Duration,
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
        let pair = format!("{}:{}", form_encoded(client_id), form_encoded(secret));
        Self {
            issuer: issuer.into(),
            endpoint: endpoint.into(),
            fetch: Limited::new(fetch),
            credentials: format!("Basic {}", STANDARD.encode(pair)).into(),
            audience: None,
            believed: BELIEVED,
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

    async fn judge(&self, token: AccessToken<'_>) -> Result<Grant, Refusal> {
        let key = digest(token.secret().as_bytes());
        if let Some(said) = self.remembered(&key) {
            return said;
        }
        let said = self.ask(token).await;
        // What could not be known may be known the next time.
        if !matches!(said, Err(Refusal::Unavailable)) {
            self.remember(key, &said);
        }
        said
    }

    async fn ask(&self, token: AccessToken<'_>) -> Result<Grant, Refusal> {
        let form = format!(
            "token={}&token_type_hint=access_token",
            form_encoded(token.secret())
        );
        let request = Request::builder()
            .method(Method::POST)
            .uri(&*self.endpoint)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::AUTHORIZATION, &*self.credentials)
            .body(Bytes::from(form));
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

    fn remember(&self, key: String, said: &Result<Grant, Refusal>) {
        let expires = said.as_ref().ok().and_then(Grant::expires);
        let left = expires.map(|it| it.duration_since(SystemTime::now()).unwrap_or_default());
        let now = Instant::now();
        let until = now + left.map_or(self.believed, |left| left.min(self.believed));
        let mut answers = self.answers();
        if answers.len() >= MOST_KEPT {
            answers.retain(|_, answer| answer.until > now);
        }
        if answers.len() < MOST_KEPT {
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

/// As forms are written.
fn form_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

//! Requests to places that servers led us to: each vetted, redirects too.

use std::sync::Arc;

use reqwest::{
    Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
};

use super::{Fetch, FetchRequest, FetchResponse};
use crate::{
    auth::{AuthError, AuthErrorKind, Secret, guard::Guard},
    proto::{auth::encode_form, http::header::name, revision::Revision},
};

/// How many redirects are followed, one after the other.
const MOST_REDIRECTS: usize = 3;

/// Fetches for one server.
#[derive(Clone)]
pub(in crate::auth) struct Fetcher {
    fetch: Arc<dyn Fetch>,
    guard: Arc<Guard>,
}

impl Fetcher {
    pub(in crate::auth) fn new(fetch: Arc<dyn Fetch>, guard: Guard) -> Self {
        let guard = Arc::new(guard);
        Self { fetch, guard }
    }

    /// Reads a document. Redirects are followed; each leads to a place that
    /// could have been named outright.
    pub(in crate::auth) async fn get(&self, url: &str) -> Result<FetchResponse, AuthError> {
        let mut url = url.to_owned();
        for _ in 0..=MOST_REDIRECTS {
            let (target, reach) = self.guard.vet(&url)?;
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(name::APPLICATION_JSON));
            // The first servers with authorization want to know.
            let version = HeaderValue::from_static(Revision::LATEST_HANDSHAKE.as_str());
            headers.insert(name::MCP_PROTOCOL_VERSION, version);
            let request = FetchRequest {
                url: target.clone(),
                reach,
                headers,
                body: None,
            };
            let response = self.fetch.fetch(request).await?;
            match redirect(&response, &target) {
                Some(next) => url = next,
                None => return Ok(response),
            }
        }
        let why = "an authorization server redirects again and again";
        Err(AuthError::new(AuthErrorKind::Unreachable, why))
    }

    /// Looks at a page, without following it anywhere.
    pub(in crate::auth) async fn look(&self, url: &str) -> Result<FetchResponse, AuthError> {
        let (url, reach) = self.guard.vet(url)?;
        let request = FetchRequest {
            url,
            reach,
            headers: HeaderMap::new(),
            body: None,
        };
        Ok(self.fetch.fetch(request).await?)
    }

    /// Posts a form, with a secret in the header if there is one. Nothing is
    /// followed: what is posted is for this place alone.
    pub(in crate::auth) async fn post_form(
        &self,
        url: &str,
        form: &[(&'static str, String)],
        authorization: Option<&Secret>,
        dpop: Option<&str>,
    ) -> Result<FetchResponse, AuthError> {
        let body = encode_form(form.iter().map(|(name, value)| (name, value)));
        let mut headers = HeaderMap::new();
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, kind);
        if let Some(secret) = authorization {
            headers.insert(AUTHORIZATION, sensitive(secret.expose())?);
        }
        if let Some(proof) = dpop {
            headers.insert(HeaderName::from_static("dpop"), sensitive(proof)?);
        }
        self.post(url, headers, body.into_bytes()).await
    }

    /// Posts JSON, with these headers.
    pub(in crate::auth) async fn post_json(
        &self,
        url: &str,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<FetchResponse, AuthError> {
        let kind = HeaderValue::from_static(name::APPLICATION_JSON);
        headers.insert(CONTENT_TYPE, kind);
        self.post(url, headers, body).await
    }

    /// Whether a URL may be opened in the user's browser.
    pub(in crate::auth) fn vet(&self, url: &str) -> Result<(), AuthError> {
        self.guard.vet(url).map(drop)
    }

    async fn post(
        &self,
        url: &str,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<FetchResponse, AuthError> {
        let (url, reach) = self.guard.vet(url)?;
        let json = HeaderValue::from_static(name::APPLICATION_JSON);
        headers.entry(ACCEPT).or_insert(json);
        let request = FetchRequest {
            url,
            reach,
            headers,
            body: Some(body),
        };
        Ok(self.fetch.fetch(request).await?)
    }
}

fn redirect(response: &FetchResponse, from: &Url) -> Option<String> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers.get(LOCATION)?.to_str().ok()?;
    from.join(location).ok().map(String::from)
}

fn sensitive(text: &str) -> Result<HeaderValue, AuthError> {
    let value = HeaderValue::from_str(text);
    let mut value =
        value.map_err(|_| AuthError::new(AuthErrorKind::Key, "a credential cannot be sent"))?;
    value.set_sensitive(true);
    Ok(value)
}

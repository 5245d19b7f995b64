//! Requests to URLs that servers supplied: each is checked, including
//! redirects.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use reqwest::{
    Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
};

use super::{AuthError, AuthErrorKind, Secret, url_policy::UrlPolicy};
use crate::{
    fetch::{AddressScope, Fetch, FetchError, FetchPolicy, FetchRequest},
    proto::{auth::encode_form, http::header::name, revision::Revision},
};

/// Maximum number of consecutive redirects.
const MAX_REDIRECTS: usize = 3;

/// Fetches for one server.
#[derive(Clone)]
pub(super) struct PolicyFetcher {
    fetch: Arc<dyn Fetch>,
    policy: Arc<UrlPolicy>,
}

impl PolicyFetcher {
    pub(super) fn new(fetch: Arc<dyn Fetch>, url_policy: UrlPolicy) -> Self {
        let policy = Arc::new(url_policy);
        Self { fetch, policy }
    }

    /// Fetches a document. Redirects are followed; each target is checked like
    /// a URL that was supplied directly.
    pub(super) async fn get(&self, url: &str) -> Result<Response<Bytes>, AuthError> {
        let mut url = url.to_owned();
        for _ in 0..=MAX_REDIRECTS {
            let (target, scope) = self.policy.check(&url)?;
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(name::APPLICATION_JSON));
            // The first servers with authorization require it.
            let version = HeaderValue::from_static(Revision::LATEST_HANDSHAKE.as_str());
            headers.insert(name::MCP_PROTOCOL_VERSION, version);
            let request = (Method::GET, Bytes::new());
            let response = self.send(&target, scope, headers, request).await?;
            match redirect(&response, &target) {
                Some(next) => url = next,
                None => return Ok(response),
            }
        }
        let reason = "too many redirects from an authorization server";
        Err(AuthError::new(AuthErrorKind::Unreachable, reason))
    }

    /// Fetches a page without following redirects.
    pub(super) async fn get_without_redirects(
        &self,
        url: &str,
    ) -> Result<Response<Bytes>, AuthError> {
        let (url, scope) = self.policy.check(url)?;
        let request = (Method::GET, Bytes::new());
        self.send(&url, scope, HeaderMap::new(), request).await
    }

    /// Posts a form, with a secret in the header if there is one. Redirects are
    /// not followed: the form is for this URL alone.
    pub(super) async fn post_form(
        &self,
        url: &str,
        form: &[(&'static str, String)],
        authorization: Option<&Secret>,
        dpop: Option<&str>,
    ) -> Result<Response<Bytes>, AuthError> {
        let body = encode_form(form.iter().map(|(name, value)| (name, value)));
        let mut headers = HeaderMap::new();
        let content_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, content_type);
        if let Some(secret) = authorization {
            headers.insert(AUTHORIZATION, sensitive_header(secret.expose())?);
        }
        if let Some(proof) = dpop {
            headers.insert(HeaderName::from_static("dpop"), sensitive_header(proof)?);
        }
        self.post(url, headers, body.into_bytes()).await
    }

    /// Posts JSON with these headers.
    pub(super) async fn post_json(
        &self,
        url: &str,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Bytes>, AuthError> {
        let content_type = HeaderValue::from_static(name::APPLICATION_JSON);
        headers.insert(CONTENT_TYPE, content_type);
        self.post(url, headers, body).await
    }

    /// Checks whether a URL may be opened in the user's browser.
    pub(super) fn check(&self, url: &str) -> Result<(), AuthError> {
        self.policy.check(url).map(drop)
    }

    async fn post(
        &self,
        url: &str,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Bytes>, AuthError> {
        let (url, scope) = self.policy.check(url)?;
        let json = HeaderValue::from_static(name::APPLICATION_JSON);
        headers.entry(ACCEPT).or_insert(json);
        let request = (Method::POST, body.into());
        self.send(&url, scope, headers, request).await
    }

    /// Sends a request to a URL that was checked.
    async fn send(
        &self,
        url: &Url,
        scope: AddressScope,
        headers: HeaderMap,
        (method, body): (Method, Bytes),
    ) -> Result<Response<Bytes>, AuthError> {
        let request = Request::builder().method(method).uri(url.as_str());
        let request = request.body(body);
        let mut request = request.map_err(|_| FetchError::new("the URL is not valid"))?;
        *request.headers_mut() = headers;
        let mut policy = FetchPolicy::new(scope);
        // `UrlPolicy` has decided whether this URL may use plain http.
        policy.allow_plain_http = true;
        let request = FetchRequest::new(request, policy);
        Ok(request.send(&*self.fetch).await?)
    }
}

fn redirect(response: &Response<Bytes>, from: &Url) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    from.join(location).ok().map(String::from)
}

fn sensitive_header(credential: &str) -> Result<HeaderValue, AuthError> {
    let value = HeaderValue::from_str(credential);
    let mut value = value.map_err(|_| {
        AuthError::new(
            AuthErrorKind::Key,
            "a credential contains characters that are not allowed in a header",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

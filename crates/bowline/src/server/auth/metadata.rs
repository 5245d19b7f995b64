//! Protected resource metadata (RFC 9728).

use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::{Value, json};

use super::{ProtectionBuilder, dpop, scope};
use crate::server::http::Body;

/// Builds the metadata document, for clients that know only the URL.
pub(super) fn document(protection: &ProtectionBuilder) -> Value {
    let mut issuers = Vec::new();
    let verifiers = protection.verifiers.iter();
    scope::push_unique(&mut issuers, verifiers.map(|verifier| verifier.issuer()));
    let mut document = json!({
        "resource": protection.resource,
        "authorization_servers": issuers,
        "bearer_methods_supported": ["header"],
    });
    let mut scopes = protection.required_scopes.clone();
    scope::push_unique(
        &mut scopes,
        protection.additional_scopes.iter().map(|name| &**name),
    );
    if !scopes.is_empty() {
        document["scopes_supported"] = json!(scopes);
    }
    if protection.dpop {
        document["dpop_signing_alg_values_supported"] = json!(dpop::ALGORITHMS);
    }
    if let Some(name) = &protection.name {
        document["resource_name"] = json!(name);
    }
    if let Some(url) = &protection.documentation_url {
        document["resource_documentation"] = json!(url);
    }
    document
}

/// A `tower` service that publishes the metadata of a protected server at any
/// path it is mounted at; that should be
/// [`metadata_path`](super::Protection::metadata_path).
#[derive(Clone, Debug)]
pub struct MetadataService {
    document: Bytes,
}

impl MetadataService {
    pub(super) const fn new(document: Bytes) -> Self {
        Self { document }
    }

    /// Responds with the document, which is public and readable from all
    /// origins.
    pub(crate) fn respond(&self, method: &Method) -> Response<Body> {
        let constant = HeaderValue::from_static;
        let (status, body) = match *method {
            Method::GET => (StatusCode::OK, Body::full(self.document.clone())),
            Method::HEAD => (StatusCode::OK, Body::empty()),
            Method::OPTIONS => (StatusCode::NO_CONTENT, Body::empty()),
            _ => (StatusCode::METHOD_NOT_ALLOWED, Body::empty()),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, constant("*"));
        headers.insert(header::ALLOW, constant("GET, HEAD, OPTIONS"));
        if *method == Method::OPTIONS {
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, constant("GET, HEAD"));
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, constant("*"));
        }
        if status == StatusCode::OK {
            headers.insert(header::CONTENT_TYPE, constant("application/json"));
            headers.insert(header::CACHE_CONTROL, constant("max-age=300"));
        }
        response
    }
}

impl<B> tower_service::Service<Request<B>> for MetadataService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.respond(request.method())))
    }
}

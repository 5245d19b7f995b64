//! CORS headers for pages of allowed origins.

use http::{HeaderMap, HeaderValue, header, request::Parts};

/// The response headers a page may read.
const EXPOSED_HEADERS: &str =
    "mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce, retry-after";
/// The headers a page may send if it does not name any.
const ALLOWED_HEADERS: &str = "accept, authorization, content-type, dpop, last-event-id, mcp-method, mcp-name, \
                       mcp-protocol-version, mcp-session-id";

/// Adds the CORS headers. The origin was checked before.
pub(super) fn add_cors_headers(request: &Parts, headers: &mut HeaderMap) {
    let Some(origin) = request.headers.get(header::ORIGIN) else {
        return;
    };
    let constant = HeaderValue::from_static;
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.append(header::VARY, constant("origin"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        constant(EXPOSED_HEADERS),
    );
    if request.method != http::Method::OPTIONS {
        return;
    }
    let methods = constant("POST, GET, DELETE, OPTIONS");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    let requested = request.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS);
    let requested = requested
        .cloned()
        .unwrap_or_else(|| constant(ALLOWED_HEADERS));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, requested);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, constant("600"));
}

//! Letting pages of allowed origins read the answers.

use http::{HeaderMap, HeaderValue, header, request::Parts};

/// Which of our headers a page may read.
const EXPOSED: &str = "mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce";
/// Which headers a page may send where it does not say which it wants.
const ALLOWED: &str = "accept, authorization, content-type, dpop, last-event-id, mcp-method, mcp-name, \
                       mcp-protocol-version, mcp-session-id";

/// Tells the browser that the page may. Its origin was checked before.
pub(super) fn allow(request: &Parts, answer: &mut HeaderMap) {
    let Some(origin) = request.headers.get(header::ORIGIN) else {
        return;
    };
    let constant = HeaderValue::from_static;
    answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    answer.append(header::VARY, constant("origin"));
    answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, constant(EXPOSED));
    if request.method != http::Method::OPTIONS {
        return;
    }
    let methods = constant("POST, GET, DELETE, OPTIONS");
    answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    let wanted = request.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS);
    let wanted = wanted.cloned().unwrap_or_else(|| constant(ALLOWED));
    answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted);
    answer.insert(header::ACCESS_CONTROL_MAX_AGE, constant("600"));
}

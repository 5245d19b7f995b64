//! The headers of a request, as the protocol core reads them.

use http::{HeaderName, HeaderValue, header, request::Parts};

use crate::proto::http::{Headers, header::name};

/// The headers of a request, as the protocol core reads them.
pub(super) struct RequestHeaders<'a>(pub(super) &'a Parts);

impl Headers for RequestHeaders<'_> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let headers = &self.0.headers;
        let values = match static_header_name(name) {
            Some(name) => headers.get_all(name),
            None => headers.get_all(name),
        };
        // HTTP/2 sends the host in the request URI. If both are present, they
        // must be the same; otherwise there is no host.
        let authority = self.0.uri.authority().filter(|_| name == name::HOST);
        let is_in_host = |authority: &[u8]| {
            let mut hosts = headers.get_all(header::HOST).iter();
            hosts.any(|host| host.as_bytes().eq_ignore_ascii_case(authority))
        };
        let authority = authority.filter(|it| !is_in_host(it.as_str().as_bytes()));
        let authority = authority.map(|authority| authority.as_str().as_bytes());
        let values = values.into_iter();
        values.map(HeaderValue::as_bytes).chain(authority)
    }
}

/// Returns the static name of a header that is looked up often, to avoid
/// parsing it.
fn static_header_name(name: &str) -> Option<&'static HeaderName> {
    static METHOD: HeaderName = HeaderName::from_static(name::MCP_METHOD);
    static NAME: HeaderName = HeaderName::from_static(name::MCP_NAME);
    static SESSION: HeaderName = HeaderName::from_static(name::MCP_SESSION_ID);
    static VERSION: HeaderName = HeaderName::from_static(name::MCP_PROTOCOL_VERSION);
    Some(match name {
        name::HOST => &header::HOST,
        name::ORIGIN => &header::ORIGIN,
        name::ACCEPT => &header::ACCEPT,
        name::MCP_METHOD => &METHOD,
        name::MCP_NAME => &NAME,
        name::MCP_SESSION_ID => &SESSION,
        name::MCP_PROTOCOL_VERSION => &VERSION,
        _ => return None,
    })
}

/// Estimates the size of a request head. hyper accepts more than its limit if
/// all of it arrives at once.
pub(super) fn head_size(parts: &Parts) -> usize {
    let size = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
    let headers: usize = parts.headers.iter().map(size).sum();
    let target = parts.uri.path_and_query().map_or(0, |it| it.as_str().len());
    headers + target
}

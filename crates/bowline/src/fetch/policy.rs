//! The limits of one request.

use std::{net::IpAddr, time::Duration};

use http::Uri;

use super::{AddressScope, FetchError};

/// The limits of a request of authorization. Redirects are never followed without a
/// check of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchPolicy {
    /// The addresses it may connect to, whatever the name in the URL resolves to.
    pub addresses: AddressScope,
    /// Whether the URL may be `http` on other machines, too.
    pub allow_plain_http: bool,
    /// The maximum size of the response, in bytes.
    pub max_response_bytes: usize,
    /// How long the request and its response may take.
    pub timeout: Duration,
}

impl FetchPolicy {
    /// Creates a policy: only `https`, or `http` on this machine, a response of 256 KiB
    /// at most, within 30 seconds.
    #[must_use]
    pub fn new(addresses: AddressScope) -> Self {
        Self {
            addresses,
            allow_plain_http: false,
            max_response_bytes: 256 * 1024,
            timeout: Duration::from_secs(30),
        }
    }

    pub(super) fn check_url(&self, uri: &Uri) -> Result<(), FetchError> {
        let is_plain = uri.scheme_str() == Some("http");
        match check_confidential(uri) {
            Err(_) if is_plain && self.allow_plain_http => Ok(()),
            checked => checked.map_err(|reason| FetchError::Blocked(reason.to_owned())),
        }
    }

    pub(super) fn timed_out(&self) -> FetchError {
        FetchError::new(format!("the request timed out after {:?}", self.timeout))
    }

    pub(super) fn too_large(&self) -> FetchError {
        let limit = self.max_response_bytes;
        FetchError::new(format!("the response exceeds the limit of {limit} bytes"))
    }
}

/// Checks that data can be exchanged with a URL confidentially.
///
/// # Errors
///
/// Returns why not.
pub(crate) fn check_confidential(uri: &Uri) -> Result<(), &'static str> {
    let authority = uri.authority().ok_or("the URL has no host")?;
    if authority.as_str().contains('@') {
        return Err("the URL must not contain user information");
    }
    match uri.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if is_loopback(authority.host()) => Ok(()),
        _ => Err("the URL must use https, unless it is on this machine"),
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|it| it.is_loopback())
}

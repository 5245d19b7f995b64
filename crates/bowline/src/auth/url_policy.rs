//! The policy for URLs that servers supply.
//!
//! A metadata document can name any URL. A URL on the client's own network, or
//! of the service that issues a cloud machine's credentials, would make the
//! client send a request there. So only `https` and public addresses are
//! allowed, unless the application configures otherwise.

use std::net::IpAddr;

use reqwest::Url;

use super::{AuthError, AuthErrorKind};
use crate::fetch::AddressScope;

/// The policy for one server.
#[derive(Clone, Debug)]
pub(super) struct UrlPolicy {
    /// Whether the server is on this machine.
    is_server_local: bool,
    /// URLs that the application configured, not a server: the server, an
    /// issuer, an identity provider.
    trusted: Vec<Url>,
    allow_private: bool,
    /// Whether these may use plain `http`.
    allow_plain_http: bool,
}

impl UrlPolicy {
    pub(super) fn new(server: &Url, allow_private: bool) -> Self {
        Self {
            is_server_local: is_loopback(server),
            trusted: vec![server.clone()],
            allow_private,
            allow_plain_http: false,
        }
    }

    /// Sets whether the configured URLs may use plain `http`.
    pub(super) fn allow_plain_http(mut self, allow: bool) -> Self {
        self.allow_plain_http = allow;
        self
    }

    /// Adds a URL that the application configured.
    pub(super) fn trust(mut self, url: &str) -> Self {
        self.trusted.extend(Url::parse(url));
        self
    }

    /// Parses a URL that a server supplied, and returns the addresses that a
    /// request to it may connect to.
    pub(super) fn check(&self, input: &str) -> Result<(Url, AddressScope), AuthError> {
        let blocked = |reason: &str| AuthError::new(AuthErrorKind::Blocked, reason);
        let url =
            Url::parse(input).map_err(|_| blocked("a URL used for authorization is not valid"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(blocked("a URL used for authorization contains credentials"));
        }
        let is_trusted = self
            .trusted
            .iter()
            .any(|trusted_url| trusted_url.origin() == url.origin());
        match url.scheme() {
            "https" => {}
            "http" if (self.is_server_local || is_trusted) && is_loopback(&url) => {}
            "http" if self.allow_plain_http && is_trusted => {}
            _ => return Err(blocked("a URL used for authorization is not https")),
        }
        if self.allow_private || is_trusted {
            return Ok((url, AddressScope::Anywhere));
        }
        let scope = match self.is_server_local {
            true => AddressScope::PublicAndLoopback,
            false => AddressScope::Public,
        };
        match host_address(&url) {
            Some(address) if !scope.allows(address) => Err(blocked(
                "a URL used for authorization is not public (see `allow_private_networks`)",
            )),
            _ => Ok((url, scope)),
        }
    }
}

/// Returns the IP address in a URL, in any notation.
fn host_address(url: &Url) -> Option<IpAddr> {
    // The parser has normalized every notation of an IPv4 address.
    let host = url.host_str()?;
    let host = host
        .strip_prefix('[')
        .map_or(host, |host| host.trim_end_matches(']'));
    host.parse().ok()
}

/// Returns whether a URL names this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match host_address(url) {
        Some(address) => address.to_canonical().is_loopback(),
        None => url.host_str().is_some_and(|host| {
            let host = host.trim_end_matches('.');
            host == "localhost" || host.ends_with(".localhost")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(server: &str) -> UrlPolicy {
        UrlPolicy::new(&Url::parse(server).unwrap(), false)
    }

    #[test]
    fn every_notation_of_an_address_is_read() {
        let guard = policy("https://mcp.example.com/mcp");
        for url in [
            "https://127.0.0.1/x",
            "https://127.1/x",
            "https://2130706433/x",
            "https://0x7f.0.0.1/x",
            "https://0177.0.0.1/x",
            "https://[::1]/x",
            "https://[::ffff:127.0.0.1]/x",
            "https://169.254.169.254/latest/meta-data",
            "https://１６９.254.169.254/",
            "https://[fd00:ec2::254]/",
        ] {
            let error = guard.check(url).unwrap_err();
            assert_eq!(error.kind(), AuthErrorKind::Blocked, "{url}");
        }
        assert!(guard.check("https://1.1.1.1/x").is_ok());
    }

    #[test]
    fn only_https_but_for_this_machine_talking_to_itself() {
        let (remote, local) = (
            policy("https://mcp.example.com"),
            policy("http://127.0.0.1:1/mcp"),
        );
        for url in [
            "http://as.example.com",
            "http://localhost:1",
            "file:///etc/passwd",
            "x",
        ] {
            assert!(remote.check(url).is_err(), "{url}");
        }
        assert!(local.check("http://localhost:2/as").is_ok());
        assert!(local.check("http://[::1]:2/as").is_ok());
        assert!(local.check("http://as.example.com").is_err());
        assert!(local.check("http://10.0.0.1").is_err());
        assert!(local.check("https://as.example.com").is_ok());
        assert!(remote.check("https://u:p@as.example.com").is_err());
    }

    #[test]
    fn how_far_a_request_reaches() {
        let scope = |server, url| policy(server).check(url).unwrap().1;
        let remote = "https://mcp.example.com/mcp";
        assert_eq!(
            scope(remote, "https://as.example.com"),
            AddressScope::Public
        );
        assert_eq!(
            scope(remote, "https://mcp.example.com/x"),
            AddressScope::Anywhere
        );
        assert_eq!(
            scope("http://localhost:1", "https://as.example.com"),
            AddressScope::PublicAndLoopback
        );
        let is_trusted = policy(remote).trust("https://idp.internal/token");
        assert_eq!(
            is_trusted.check("https://idp.internal/x").unwrap().1,
            AddressScope::Anywhere
        );
        assert_eq!(
            is_trusted.check("https://other.internal/x").unwrap().1,
            AddressScope::Public
        );
        let open = UrlPolicy::new(&Url::parse(remote).unwrap(), true);
        assert_eq!(
            open.check("https://10.0.0.1").unwrap().1,
            AddressScope::Anywhere
        );
        assert!(open.check("http://10.0.0.1").is_err());
    }
}

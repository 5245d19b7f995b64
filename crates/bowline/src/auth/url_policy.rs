//! The policy for URLs that servers supply.
//!
//! A metadata document can name any URL. A URL on the client's own network, or
//! of the service that issues a cloud machine's credentials, would make the
//! client send a request there. So only `https` and public addresses are
//! allowed, unless the application configures otherwise.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

use super::{AuthError, AuthErrorKind, fetch::AddressScope};

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

impl AddressScope {
    /// Returns whether a request with this scope may connect to this address.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Anywhere => true,
            Self::PublicAndLoopback => is_public(address) || canonical(address).is_loopback(),
            Self::Public => is_public(address),
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
        Some(address) => canonical(address).is_loopback(),
        None => url.host_str().is_some_and(|host| {
            let host = host.trim_end_matches('.');
            host == "localhost" || host.ends_with(".localhost")
        }),
    }
}

/// Returns whether an address is public.
fn is_public(address: IpAddr) -> bool {
    match canonical(address) {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Unwraps an IPv4 address that is mapped into an IPv6 one.
fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_unspecified()
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        // Carrier-grade NAT.
        || (a == 100 && (64..128).contains(&b))
        // Special purposes, and 6to4 relays.
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        // Benchmarks.
        || (a == 198 && (b == 18 || b == 19))
        // Reserved.
        || a >= 240;
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let tail = || {
        let [.., g, h] = segments;
        let ([a, b], [c, d]) = (g.to_be_bytes(), h.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        // Translated to IPv4 (NAT64): the IPv4 address decides.
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => is_public_v4(tail()),
        [0x64, 0xff9b, ..] => false,
        [0x2002, high, low, ..] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Teredo, benchmarks, identifiers, documentation.
        [0x2001, second, ..] if second < 0x0200 => false,
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        // Global unicast; this excludes unspecified, loopback, link-local,
        // unique local and multicast addresses.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(server: &str) -> UrlPolicy {
        UrlPolicy::new(&Url::parse(server).unwrap(), false)
    }

    #[test]
    fn addresses_of_the_whole_internet() {
        for public in [
            "1.1.1.1",
            "93.184.215.14",
            "2606:4700::1111",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn addresses_that_are_somebodys_own() {
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.254",
            "127.0.0.1",
            "127.8.9.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.192",
            "192.168.1.1",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "fe80::1",
            "fd00:ec2::254",
            "fc00::1",
            "ff02::1",
            "2001:db8::1",
            "2002:a00:1::",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2001::1",
            "100::1",
            "::127.0.0.1",
            "5f00::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
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

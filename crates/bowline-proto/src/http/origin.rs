//! The allow-list of hosts and web origins, which protects against DNS
//! rebinding.

use std::fmt;

use super::{
    Headers,
    authority::{Authority, WebOrigin},
    header::{name, single_value, trim_ows},
};

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The allow-list for `Host` and `Origin`.
///
/// A page on the internet can point its own domain name at 127.0.0.1 and so
/// reach a local server from a browser. The browser then sends the page's real
/// names in `Host` and `Origin`, and this list refuses both.
///
/// ```
/// use bowline_proto::http::OriginPolicy;
///
/// let policy = OriginPolicy::loopback().allow_origin("https://app.example.com").unwrap();
/// assert!(policy.check(&[("Host", "localhost:3000")]).is_ok());
/// assert!(policy.check(&[("Host", "[::1]:3000"), ("Origin", "https://app.example.com")]).is_ok());
/// assert!(policy.check(&[("Host", "evil.example.com")]).is_err());
/// assert!(policy.check(&[("Host", "localhost"), ("Origin", "http://evil.example.com")]).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginPolicy {
    hosts: Vec<HostRule>,
    any_host: bool,
    origins: Vec<Box<str>>,
    loopback_origins: bool,
    null_origin: bool,
}

impl OriginPolicy {
    /// Allows no host and no origin; the start of a custom list.
    #[must_use]
    pub fn deny_all() -> Self {
        Self::default()
    }

    /// Allows `localhost`, `127.0.0.1` and `[::1]` on any port, as host and as
    /// origin: what a server bound to the loopback interface needs.
    #[must_use]
    pub fn loopback() -> Self {
        let rule = |host: &str| HostRule {
            host: host.into(),
            port: None,
        };
        Self {
            hosts: LOOPBACK.into_iter().map(rule).collect(),
            loopback_origins: true,
            ..Self::default()
        }
    }

    /// Allows a host: `example.com` on any port, `example.com:8443` on that
    /// one.
    ///
    /// # Errors
    ///
    /// Returns an error if the string is not a host.
    pub fn allow_host(mut self, host: &str) -> Result<Self, OriginPolicyError> {
        let Authority { host, port } = Authority::parse(host).ok_or(OriginPolicyError)?;
        self.hosts.push(HostRule {
            host: host.into(),
            port,
        });
        Ok(self)
    }

    /// Allows every host, for servers behind a proxy that checks it.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Allows the scripts of a web page: `https://app.example.com`. Origins
    /// with a custom scheme, such as `vscode-webview://…`, are compared as
    /// strings.
    ///
    /// # Errors
    ///
    /// Returns an error if the string is not an origin.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, OriginPolicyError> {
        if !is_origin(origin) {
            return Err(OriginPolicyError);
        }
        self.origins.push(origin.into());
        Ok(self)
    }

    /// Allows the origin `null`: sandboxed frames and files, and so anyone who
    /// gets the user to open one.
    #[must_use]
    pub fn allow_null_origin(mut self) -> Self {
        self.null_origin = true;
        self
    }

    /// Checks a request by its headers, whatever its method.
    ///
    /// A request without `Origin` does not come from a web page's script and
    /// passes if its host does.
    ///
    /// # Errors
    ///
    /// Returns the reason for the 403.
    pub fn check<H: Headers + ?Sized>(&self, headers: &H) -> Result<(), OriginError> {
        let host = single_value(headers, name::HOST).map_err(|_| OriginError::BadHost)?;
        self.check_host(host)?;
        let origin = single_value(headers, name::ORIGIN).map_err(|_| OriginError::BadOrigin)?;
        origin.map_or(Ok(()), |origin| self.check_origin(origin))
    }

    fn check_host(&self, host: Option<&[u8]>) -> Result<(), OriginError> {
        if self.any_host {
            return Ok(());
        }
        let host = host.ok_or(OriginError::MissingHost)?;
        let host = str::from_utf8(trim_ows(host))
            .ok()
            .and_then(Authority::parse);
        let host = host.ok_or(OriginError::BadHost)?;
        let allowed = self.hosts.iter().any(|rule| rule.allows(host));
        allowed.then_some(()).ok_or(OriginError::HostNotAllowed)
    }

    fn check_origin(&self, origin: &[u8]) -> Result<(), OriginError> {
        let origin = str::from_utf8(trim_ows(origin)).map_err(|_| OriginError::BadOrigin)?;
        if origin == "null" {
            let allowed = self.null_origin.then_some(());
            return allowed.ok_or(OriginError::OriginNotAllowed);
        }
        if !is_origin(origin) {
            return Err(OriginError::BadOrigin);
        }
        let loopback = self.loopback_origins && is_loopback(origin);
        let allowed = loopback
            || self
                .origins
                .iter()
                .any(|allowed_origin| same_origin(allowed_origin, origin));
        allowed.then_some(()).ok_or(OriginError::OriginNotAllowed)
    }
}

/// The error for an allow-list entry that is not a host or an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginPolicyError;

impl fmt::Display for OriginPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "expected a host such as example.com:8443 or an origin such as https://example.com",
        )
    }
}

impl std::error::Error for OriginPolicyError {}

/// Why a request is refused before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OriginError {
    /// `Host` is missing.
    MissingHost,
    /// `Host` is not a valid host, or occurs twice.
    BadHost,
    /// The host is not on the list.
    HostNotAllowed,
    /// `Origin` is not a valid origin, or occurs twice.
    BadOrigin,
    /// The origin is not on the list.
    OriginNotAllowed,
}

impl OriginError {
    /// The HTTP status of the refusal.
    pub const STATUS: u16 = 403;
}

impl fmt::Display for OriginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MissingHost => "the Host header is missing",
            Self::BadHost => "the Host header is not a single valid host",
            Self::HostNotAllowed => {
                "the host is not allowed; add it to the allowed hosts of the server"
            }
            Self::BadOrigin => "the Origin header is not a single valid origin",
            Self::OriginNotAllowed => {
                "the origin is not allowed; add it to the allowed origins of the server"
            }
        })
    }
}

impl std::error::Error for OriginError {}

#[derive(Clone, Debug, PartialEq, Eq)]
struct HostRule {
    host: Box<str>,
    port: Option<u16>,
}

impl HostRule {
    fn allows(&self, host: Authority<'_>) -> bool {
        host.is_same_host(&self.host) && (self.port.is_none() || self.port == host.port)
    }
}

fn parse_web_origin(input: &str) -> Option<WebOrigin<'_>> {
    WebOrigin::split(input).and_then(|(origin, rest)| rest.is_empty().then_some(origin))
}

/// Matches `scheme://` and something after it, without white space or path.
fn is_origin(input: &str) -> bool {
    let Some((scheme, rest)) = input.split_once("://") else {
        return false;
    };
    if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") {
        return parse_web_origin(input).is_some();
    }
    let is_scheme_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme_byte)
        && !rest.is_empty()
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

fn same_origin(allowed_origin: &str, received: &str) -> bool {
    match (parse_web_origin(allowed_origin), parse_web_origin(received)) {
        (Some(allowed_origin), Some(received)) => allowed_origin.is_same_origin(&received),
        _ => allowed_origin.eq_ignore_ascii_case(received),
    }
}

fn is_loopback(origin: &str) -> bool {
    parse_web_origin(origin).is_some_and(|parsed| {
        LOOPBACK
            .iter()
            .any(|host| parsed.authority.is_same_host(host))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(policy: &OriginPolicy, host: &str) -> Result<(), OriginError> {
        policy.check(&[("host", host)])
    }

    fn origin(policy: &OriginPolicy, origin: &str) -> Result<(), OriginError> {
        policy.check(&[("host", "localhost:3000"), ("origin", origin)])
    }

    #[test]
    fn loopback_hosts_pass_on_any_port_and_in_any_case() {
        let policy = OriginPolicy::loopback();
        for good in [
            "localhost",
            "LocalHost:8080",
            "127.0.0.1",
            "127.0.0.1:1",
            "[::1]:9",
            " localhost ",
        ] {
            assert_eq!(host(&policy, good), Ok(()), "{good}");
        }
        for bad in [
            "evil.example.com",
            "localhost.evil.com",
            "127.0.0.1.nip.io",
            "[::2]",
            "10.0.0.1",
        ] {
            assert_eq!(
                host(&policy, bad),
                Err(OriginError::HostNotAllowed),
                "{bad}"
            );
        }
        for bad in [
            "",
            "a@localhost",
            "localhost/x",
            "localhost:x",
            "localhost,evil",
        ] {
            assert_eq!(host(&policy, bad), Err(OriginError::BadHost), "{bad}");
        }
    }

    #[test]
    fn a_missing_or_repeated_host_is_refused() {
        let policy = OriginPolicy::loopback();
        let none: [(&str, &str); 0] = [];
        assert_eq!(policy.check(&none), Err(OriginError::MissingHost));
        let twice = [("Host", "localhost"), ("host", "evil.example.com")];
        assert_eq!(policy.check(&twice), Err(OriginError::BadHost));
        assert_eq!(policy.clone().allow_any_host().check(&none), Ok(()));
    }

    #[test]
    fn a_named_port_is_binding() {
        let policy = OriginPolicy::deny_all()
            .allow_host("mcp.example.com:8443")
            .unwrap();
        assert_eq!(host(&policy, "MCP.example.com:8443"), Ok(()));
        for bad in ["mcp.example.com", "mcp.example.com:8444", "localhost:8443"] {
            assert_eq!(
                host(&policy, bad),
                Err(OriginError::HostNotAllowed),
                "{bad}"
            );
        }
        assert_eq!(
            OriginPolicy::deny_all().allow_host("https://x"),
            Err(OriginPolicyError)
        );
    }

    #[test]
    fn loopback_pages_pass_and_others_do_not() {
        let policy = OriginPolicy::loopback();
        for good in [
            "http://localhost",
            "http://localhost:5173",
            "https://127.0.0.1",
            "HTTP://[::1]:80",
        ] {
            assert_eq!(origin(&policy, good), Ok(()), "{good}");
        }
        for bad in [
            "http://evil.example.com",
            "https://localhost.evil.com",
            "null",
            "file://x",
            "vscode-webview://abc",
        ] {
            assert_eq!(
                origin(&policy, bad),
                Err(OriginError::OriginNotAllowed),
                "{bad}"
            );
        }
        for bad in [
            "",
            "localhost",
            "http://",
            "http://localhost/",
            "http://u@localhost",
            "http://a b",
        ] {
            assert_eq!(origin(&policy, bad), Err(OriginError::BadOrigin), "{bad}");
        }
    }

    #[test]
    fn listed_origins_pass_exactly() {
        let policy = OriginPolicy::loopback()
            .allow_origin("https://app.example.com")
            .and_then(|policy| policy.allow_origin("vscode-webview://abc"))
            .unwrap()
            .allow_null_origin();
        for good in [
            "https://APP.example.com:443",
            "vscode-webview://abc",
            "null",
        ] {
            assert_eq!(origin(&policy, good), Ok(()), "{good}");
        }
        for bad in [
            "http://app.example.com",
            "https://app.example.com:444",
            "https://x.app.example.com",
            "vscode-webview://abcd",
        ] {
            assert_eq!(
                origin(&policy, bad),
                Err(OriginError::OriginNotAllowed),
                "{bad}"
            );
        }
        for bad in ["*", "null", "https://a/path", "https://", "1x://a", ""] {
            assert_eq!(
                OriginPolicy::deny_all().allow_origin(bad),
                Err(OriginPolicyError),
                "{bad}"
            );
        }
    }
}

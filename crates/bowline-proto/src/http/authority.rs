//! Strict parsing of `host:port` and `scheme://host:port`.

/// A host and an optional port, as in a URL or a `Host` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Authority<'a> {
    /// A name, an IPv4 address, or an IPv6 address in brackets; in any case.
    pub(crate) host: &'a str,
    pub(crate) port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Parses an authority. User names, escapes and everything unusual are
    /// refused: input that two parsers read differently is how allow-lists are
    /// bypassed.
    pub(crate) fn parse(input: &'a str) -> Option<Self> {
        let (host, port) = match input.strip_prefix('[') {
            Some(rest) => {
                let end = rest.find(']')?;
                let (address, port) = rest.split_at(end);
                address.parse::<std::net::Ipv6Addr>().ok()?;
                (&input[..end + 2], &port[1..])
            }
            None => input.split_at(memchr::memchr(b':', input.as_bytes()).unwrap_or(input.len())),
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            None => return None,
            Some(digits) => Some(parse_port(digits)?),
        };
        let is_valid =
            !host.is_empty() && (host.starts_with('[') || host.bytes().all(is_host_byte));
        is_valid.then_some(Self { host, port })
    }

    pub(crate) fn is_same_host(&self, other: &str) -> bool {
        self.host.eq_ignore_ascii_case(other)
    }
}

/// A web origin: `http` or `https`, a host, a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WebOrigin<'a> {
    pub(crate) is_https: bool,
    pub(crate) authority: Authority<'a>,
}

impl<'a> WebOrigin<'a> {
    /// Splits an absolute URL into its origin and the rest, which is empty or
    /// begins with `/`, `?` or `#`.
    pub(crate) fn split(url: &'a str) -> Option<(Self, &'a str)> {
        let (scheme, rest) = url.split_once("://")?;
        let is_https = match scheme {
            scheme if scheme.eq_ignore_ascii_case("https") => true,
            scheme if scheme.eq_ignore_ascii_case("http") => false,
            _ => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let authority = Authority::parse(authority)?;
        Some((
            Self {
                is_https,
                authority,
            },
            rest,
        ))
    }

    pub(crate) fn is_same_origin(&self, other: &WebOrigin<'_>) -> bool {
        self.is_https == other.is_https
            && self.port() == other.port()
            && self.authority.is_same_host(other.authority.host)
    }

    fn port(&self) -> u16 {
        let default = if self.is_https { 443 } else { 80 };
        self.authority.port.unwrap_or(default)
    }
}

fn parse_port(digits: &str) -> Option<u16> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok()).flatten()
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_read_strictly() {
        let read = |input| Authority::parse(input).map(|a| (a.host, a.port));
        assert_eq!(read("localhost"), Some(("localhost", None)));
        assert_eq!(read("Example.COM:8080"), Some(("Example.COM", Some(8080))));
        assert_eq!(read("[::1]"), Some(("[::1]", None)));
        assert_eq!(read("[::1]:3000"), Some(("[::1]", Some(3000))));
        for bad in [
            "", ":80", "a:", "a:b", "a:+1", "a:65536", "a:1:2", "u@a", "u:p@a", "a b", "a/b", "é",
            "[::1", "::1", "[::1]x", "[g]", "[]", "[::1]:", "a%41", "a\\b",
        ] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn origins_compare_by_scheme_host_and_effective_port() {
        let same = |a, b| {
            WebOrigin::split(a)
                .unwrap()
                .0
                .is_same_origin(&WebOrigin::split(b).unwrap().0)
        };
        assert!(same("http://a.example", "HTTP://A.example:80/path"));
        assert!(same("https://a.example:443", "https://a.example"));
        assert!(!same("http://a.example", "https://a.example"));
        assert!(!same("http://a.example", "http://a.example:8080"));
        assert!(!same("http://a.example", "http://b.example"));
        assert!(WebOrigin::split("ftp://a.example").is_none());
        assert!(WebOrigin::split("//a.example").is_none());
    }
}

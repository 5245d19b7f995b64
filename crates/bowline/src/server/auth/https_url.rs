//! Addresses of resources and issuers, which are compared as they are written.

use http::Uri;

/// The address of a resource, an issuer or something that they publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpsUrl {
    url: Box<str>,
    uri: Uri,
}

impl HttpsUrl {
    /// Reads an address: `https`, or `http` on this machine, without a query
    /// and a fragment.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains(['#', '?', ' ', '"', '\\']) {
            return Err("an address without query and fragment is needed");
        }
        let uri: Uri = text.parse().map_err(|_| "it is not an address")?;
        check(&uri)?;
        let text = text.into();
        Ok(Self { url: text, uri })
    }

    /// As it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.url
    }

    pub(super) fn path(&self) -> &str {
        self.uri.path()
    }

    /// The address of something well known about this one: the path goes
    /// behind it.
    pub(super) fn well_known(&self, name: &str) -> Self {
        let path = self.path();
        let path = if path == "/" { "" } else { path };
        self.with_path(&format!("/.well-known/{name}{path}"))
    }

    /// The same place with another path.
    pub(super) fn with_path(&self, path: &str) -> Self {
        let (scheme, authority) = self.scheme_and_authority();
        let text = format!("{scheme}://{authority}{path}");
        // The path was one before, or is made of letters of ours.
        let uri = text.parse().unwrap_or_else(|_| self.uri.clone());
        let text = text.into();
        Self { url: text, uri }
    }

    /// Whether an address is at the same scheme, host and port.
    pub(super) fn is_same_origin(&self, other: &Uri) -> bool {
        let ours = (
            self.uri.scheme_str(),
            self.uri.host(),
            port_or_default(&self.uri),
        );
        let theirs = (other.scheme_str(), other.host(), port_or_default(other));
        let is_same = |a: Option<&str>, b: Option<&str>| match (a, b) {
            (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
            _ => false,
        };
        is_same(ours.0, theirs.0) && is_same(ours.1, theirs.1) && ours.2 == theirs.2
    }

    fn scheme_and_authority(&self) -> (&str, &str) {
        let scheme = self.uri.scheme_str().unwrap_or("https");
        let authority = self.uri.authority().map_or("", |it| it.as_str());
        (scheme, authority)
    }
}

/// Whether something can be asked for, or given, at an address without others
/// listening.
///
/// # Errors
///
/// Why not.
pub(super) fn check(uri: &Uri) -> Result<(), &'static str> {
    let authority = uri.authority().ok_or("it is not a whole address")?;
    if authority.as_str().contains('@') {
        return Err("it has a user in it");
    }
    match uri.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if is_loopback(authority.host()) => Ok(()),
        _ => Err("it must be https, unless it is on this machine"),
    }
}

fn port_or_default(uri: &Uri) -> u16 {
    let default = if uri.scheme_str() == Some("http") {
        80
    } else {
        443
    };
    uri.port_u16().unwrap_or(default)
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::HttpsUrl;

    #[test]
    fn the_path_goes_behind_what_is_well_known() {
        let check = |resource: &str, expected: &str| {
            let address = HttpsUrl::parse(resource).unwrap();
            assert_eq!(address.well_known("x").as_str(), expected);
        };
        check("https://a.example", "https://a.example/.well-known/x");
        check("https://a.example/", "https://a.example/.well-known/x");
        check("https://a.example/m", "https://a.example/.well-known/x/m");
        check("https://a.example/m/", "https://a.example/.well-known/x/m/");
        check("http://[::1]:80/m", "http://[::1]:80/.well-known/x/m");
    }

    #[test]
    fn what_could_be_read_elsewhere_is_refused() {
        let texts = [
            "",
            "/mcp",
            "a.example",
            "http://a.example/",
            "ftp://a.example/",
            "https://u@a.example/",
            "https://a.example/?q",
            "https://a.example/#f",
            "https://a.example/ x",
            "https://",
            "http://localhost.example/",
            "http://127.0.0.1.example/",
            "javascript:alert(1)",
        ];
        for text in texts {
            assert!(HttpsUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn origins_are_compared_by_what_they_mean() {
        let address = HttpsUrl::parse("https://A.example/mcp").unwrap();
        let has = |other: &str| address.is_same_origin(&other.parse().unwrap());
        assert!(has("https://a.example/x") && has("https://a.example:443/"));
        assert!(!has("http://a.example/") && !has("https://a.example:8443/") && !has("/mcp"));
    }
}

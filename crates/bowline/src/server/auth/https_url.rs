//! URLs of resources and issuers, compared exactly as written.

use http::Uri;

use crate::fetch::check_confidential;

/// The URL of a resource, an issuer or a document they publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpsUrl {
    url: Box<str>,
    uri: Uri,
}

impl HttpsUrl {
    /// Parses a URL: `https`, or `http` on this machine, without a query or
    /// fragment.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains(['#', '?', ' ', '"', '\\']) {
            return Err("the URL must not have a query or fragment");
        }
        let uri: Uri = text.parse().map_err(|_| "the URL is invalid")?;
        check_confidential(&uri)?;
        let text = text.into();
        Ok(Self { url: text, uri })
    }

    /// Returns the URL as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.url
    }

    pub(super) fn path(&self) -> &str {
        self.uri.path()
    }

    /// Returns the URL of a well-known document about this one. The path
    /// of this URL is appended.
    pub(super) fn well_known(&self, name: &str) -> Self {
        let path = self.path();
        let path = if path == "/" { "" } else { path };
        self.with_path(&format!("/.well-known/{name}{path}"))
    }

    /// Returns the same origin with another path.
    pub(super) fn with_path(&self, path: &str) -> Self {
        let (scheme, authority) = self.scheme_and_authority();
        let text = format!("{scheme}://{authority}{path}");
        // The path was valid before, or consists of our own characters.
        let uri = text.parse().unwrap_or_else(|_| self.uri.clone());
        let text = text.into();
        Self { url: text, uri }
    }

    /// Returns whether a URL has the same scheme, host and port.
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

fn port_or_default(uri: &Uri) -> u16 {
    let default = if uri.scheme_str() == Some("http") {
        80
    } else {
        443
    };
    uri.port_u16().unwrap_or(default)
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

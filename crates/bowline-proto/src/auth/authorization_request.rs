//! The authorization request, which the user's browser opens.

use super::{Scopes, encode_form};

/// An authorization request for a code, as the user's browser carries it.
#[derive(Clone, Debug)]
pub struct AuthorizationRequest<'a> {
    /// The client's id.
    pub client_id: &'a str,
    /// The URI that the user is redirected to afterwards.
    pub redirect_uri: &'a str,
    /// A value that is returned unchanged, which proves that a response belongs
    /// to this request.
    pub state: &'a str,
    /// The `S256` digest of the code verifier.
    pub code_challenge: &'a str,
    /// The resource, exactly as its metadata names it.
    pub resource: Option<&'a str>,
    /// The scopes to request.
    pub scopes: &'a Scopes,
    /// The thumbprint of the key that the tokens are to be bound to.
    pub dpop_jkt: Option<&'a str>,
}

impl AuthorizationRequest<'_> {
    /// Returns the URL for the browser. The endpoint's own query is kept.
    #[must_use]
    pub fn url(&self, endpoint: &str) -> String {
        let scope = self.scopes.to_string();
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", self.client_id),
            ("redirect_uri", self.redirect_uri),
            ("state", self.state),
            ("code_challenge", self.code_challenge),
            ("code_challenge_method", "S256"),
        ];
        pairs.extend(self.resource.map(|resource| ("resource", resource)));
        if !scope.is_empty() {
            pairs.push(("scope", &scope));
        }
        if self
            .scopes
            .iter()
            .any(|scope| scope == super::OFFLINE_ACCESS)
        {
            // OpenID servers issue no refresh token without it.
            pairs.push(("prompt", "consent"));
        }
        pairs.extend(self.dpop_jkt.map(|thumbprint| ("dpop_jkt", thumbprint)));
        let endpoint = endpoint.split('#').next().unwrap_or_default();
        let separator = match endpoint.split_once('?') {
            None => "?",
            Some((_, "")) => "",
            Some((_, query)) if query.ends_with('&') => "",
            Some(_) => "&",
        };
        format!("{endpoint}{separator}{}", encode_form(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::decode_form;

    #[test]
    fn the_url_carries_everything_and_keeps_the_endpoints_own_query() {
        let scopes = Scopes::parse("a b");
        let request = AuthorizationRequest {
            client_id: "me",
            redirect_uri: "http://127.0.0.1:1/callback",
            state: "s",
            code_challenge: "c",
            resource: Some("https://a.example"),
            scopes: &scopes,
            dpop_jkt: None,
        };
        for endpoint in ["https://as/auth?tenant=1", "https://as/auth?tenant=1#x"] {
            let url = request.url(endpoint);
            let query = url.strip_prefix("https://as/auth?").unwrap();
            let pairs = decode_form(query);
            let value = |name: &str| {
                let mut named = pairs.iter().filter(|(key, _)| key == name);
                let value = named.next().map(|(_, value)| value.as_str());
                assert!(named.next().is_none());
                value
            };
            assert_eq!(value("tenant"), Some("1"));
            assert_eq!(
                value("resource"),
                Some("https://a.example"),
                "no slash is added"
            );
            assert_eq!(value("scope"), Some("a b"));
            assert_eq!(value("code_challenge_method"), Some("S256"));
        }
        assert!(
            request
                .url("https://as/auth?")
                .starts_with("https://as/auth?response_type")
        );
    }
}

//! Where the user is sent.

use super::{Scopes, encode_form};

/// A request for a code, as the user's browser carries it.
#[derive(Clone, Debug)]
pub struct AuthorizationRequest<'a> {
    /// The client.
    pub client_id: &'a str,
    /// Where the user comes back to.
    pub redirect_uri: &'a str,
    /// What comes back unchanged, so that we know it is an answer to this.
    pub state: &'a str,
    /// The digest of the verifier, by `S256`.
    pub code_challenge: &'a str,
    /// The resource, as its metadata has it.
    pub resource: Option<&'a str>,
    /// What is asked for.
    pub scopes: &'a Scopes,
    /// The thumbprint of the key that the tokens are to be bound to.
    pub dpop_jkt: Option<&'a str>,
}

impl AuthorizationRequest<'_> {
    /// The URL for the browser. What the endpoint's own query holds is kept.
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
            // Servers of the OpenID kind give no refresh token without.
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

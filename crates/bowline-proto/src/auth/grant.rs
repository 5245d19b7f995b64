//! Grants, which are exchanged for a token.

use super::{Scopes, Secret};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// A grant that a client exchanges for a token.
#[derive(Clone, Debug)]
pub enum Grant<'a> {
    /// A code that the user brought back.
    AuthorizationCode {
        /// The code.
        code: &'a Secret,
        /// The redirect URI of the authorization request.
        redirect_uri: &'a str,
        /// The string whose digest was sent with the authorization request.
        code_verifier: &'a Secret,
    },
    /// A refresh token.
    RefreshToken(&'a Secret),
    /// The client's own authentication.
    ClientCredentials,
    /// An assertion that the authorization server trusts.
    JwtBearer(&'a Secret),
    /// The user's sign-in at an identity provider, exchanged for an assertion
    /// that the authorization server of a resource trusts.
    IdentityAssertion {
        /// The ID token that the provider issued at sign-in.
        id_token: &'a Secret,
        /// The authorization server that the assertion is for.
        audience: &'a str,
    },
}

impl Grant<'_> {
    /// Returns the fields of the form. `resource` is what the tokens are for,
    /// exactly as its metadata names it; `scopes` are the ones to request.
    #[must_use]
    pub fn form_fields(
        &self,
        resource: Option<&str>,
        scopes: &Scopes,
    ) -> Vec<(&'static str, String)> {
        let mut form = self.grant_fields();
        if let Some(resource) = resource {
            form.push(("resource", resource.to_owned()));
        }
        // A code has the scopes of its request; a refresh keeps those it has.
        let has_scopes = matches!(self, Self::AuthorizationCode { .. } | Self::RefreshToken(_));
        if !has_scopes && !scopes.is_empty() {
            form.push(("scope", scopes.to_string()));
        }
        form
    }

    fn grant_fields(&self) -> Vec<(&'static str, String)> {
        let kind = |kind: &str| ("grant_type", kind.to_owned());
        match self {
            Self::AuthorizationCode {
                code,
                redirect_uri,
                code_verifier: verifier,
            } => vec![
                kind("authorization_code"),
                ("code", code.expose().to_owned()),
                ("redirect_uri", (*redirect_uri).to_owned()),
                ("code_verifier", verifier.expose().to_owned()),
            ],
            Self::RefreshToken(token) => vec![
                kind("refresh_token"),
                ("refresh_token", token.expose().to_owned()),
            ],
            Self::ClientCredentials => vec![kind("client_credentials")],
            Self::JwtBearer(assertion) => vec![
                kind(JWT_BEARER),
                ("assertion", assertion.expose().to_owned()),
            ],
            Self::IdentityAssertion { id_token, audience } => vec![
                kind(TOKEN_EXCHANGE),
                ("requested_token_type", ID_JAG.to_owned()),
                ("subject_token", id_token.expose().to_owned()),
                ("subject_token_type", ID_TOKEN.to_owned()),
                ("audience", (*audience).to_owned()),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_grant_names_the_resource_as_it_is() {
        let (secret, scopes) = (Secret::new("hush"), Scopes::parse("a b"));
        let code = Grant::AuthorizationCode {
            code: &secret,
            redirect_uri: "r",
            code_verifier: &secret,
        };
        let assertion = Grant::IdentityAssertion {
            id_token: &secret,
            audience: "https://as",
        };
        for (grant, scoped) in [
            (code, false),
            (Grant::RefreshToken(&secret), false),
            (Grant::ClientCredentials, true),
            (Grant::JwtBearer(&secret), true),
            (assertion, true),
        ] {
            let form = grant.form_fields(Some("https://a.example"), &scopes);
            let resource = form.iter().find(|(name, _)| *name == "resource");
            assert_eq!(resource.unwrap().1, "https://a.example");
            assert_eq!(form.iter().any(|(name, _)| *name == "scope"), scoped);
            assert!(!format!("{grant:?}").contains("hush"));
        }
    }
}

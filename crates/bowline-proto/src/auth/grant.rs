//! What is given for a token: a code, a refresh token, somebody's word.

use super::{Scopes, Secret};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// What a client gives for a token.
#[derive(Clone, Debug)]
pub enum Grant<'a> {
    /// A code that the user brought back.
    Code {
        /// The code.
        code: &'a Secret,
        /// Where it was brought to, as it was asked for.
        redirect_uri: &'a str,
        /// The text whose digest was sent along when the code was asked for.
        verifier: &'a Secret,
    },
    /// A refresh token.
    Refresh(&'a Secret),
    /// Nothing but who the client is.
    ClientCredentials,
    /// A statement that the authorization server trusts.
    Jwt(&'a Secret),
    /// The user's sign-in at an identity provider, for a statement that the
    /// authorization server of a resource trusts.
    IdentityAssertion {
        /// What the provider gave when the user signed in.
        id_token: &'a Secret,
        /// The authorization server that the statement is for.
        audience: &'a str,
    },
}

impl Grant<'_> {
    /// The pairs of the form. `resource` is what the tokens are for, as its
    /// metadata has it; scopes are those to ask for.
    #[must_use]
    pub fn form(&self, resource: Option<&str>, scopes: &Scopes) -> Vec<(&'static str, String)> {
        let mut form = self.own_pairs();
        if let Some(resource) = resource {
            form.push(("resource", resource.to_owned()));
        }
        // A code was asked for with its scopes; a refresh keeps those it has.
        let has_scopes = matches!(self, Self::Code { .. } | Self::Refresh(_));
        if !has_scopes && !scopes.is_empty() {
            form.push(("scope", scopes.to_string()));
        }
        form
    }

    fn own_pairs(&self) -> Vec<(&'static str, String)> {
        let kind = |kind: &str| ("grant_type", kind.to_owned());
        match self {
            Self::Code {
                code,
                redirect_uri,
                verifier,
            } => vec![
                kind("authorization_code"),
                ("code", code.expose().to_owned()),
                ("redirect_uri", (*redirect_uri).to_owned()),
                ("code_verifier", verifier.expose().to_owned()),
            ],
            Self::Refresh(token) => vec![
                kind("refresh_token"),
                ("refresh_token", token.expose().to_owned()),
            ],
            Self::ClientCredentials => vec![kind("client_credentials")],
            Self::Jwt(assertion) => vec![
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
        let code = Grant::Code {
            code: &secret,
            redirect_uri: "r",
            verifier: &secret,
        };
        let assertion = Grant::IdentityAssertion {
            id_token: &secret,
            audience: "https://as",
        };
        for (grant, scoped) in [
            (code, false),
            (Grant::Refresh(&secret), false),
            (Grant::ClientCredentials, true),
            (Grant::Jwt(&secret), true),
            (assertion, true),
        ] {
            let form = grant.form(Some("https://a.example"), &scopes);
            let resource = form.iter().find(|(name, _)| *name == "resource");
            assert_eq!(resource.unwrap().1, "https://a.example");
            assert_eq!(form.iter().any(|(name, _)| *name == "scope"), scoped);
            assert!(!format!("{grant:?}").contains("hush"));
        }
    }
}

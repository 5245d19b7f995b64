//! Client authentication at the token endpoint.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{Secret, ServerMetadata, encode_form};

/// The supported authentication methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientAuthMethod {
    /// No authentication: the client has no secret.
    None,
    /// The secret, in a header.
    ClientSecretBasic,
    /// The secret, in the form.
    ClientSecretPost,
    /// A signed assertion.
    PrivateKeyJwt,
}

impl ClientAuthMethod {
    /// Returns the name in metadata and registrations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// Returns the method with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let all = [
            Self::None,
            Self::ClientSecretBasic,
            Self::ClientSecretPost,
            Self::PrivateKeyJwt,
        ];
        all.into_iter().find(|method| method.as_str() == name)
    }

    /// Chooses the method for a client with or without a secret: the registered
    /// one, else the first that the server supports.
    #[must_use]
    pub fn choose(registered: Option<Self>, has_secret: bool, server: &ServerMetadata) -> Self {
        match (registered, has_secret) {
            (_, false) => Self::None,
            (Some(method @ (Self::ClientSecretBasic | Self::ClientSecretPost)), true) => method,
            // A registration that issues a secret, but does not use it.
            (Some(Self::None), true) => Self::None,
            (_, true) => {
                let candidates = [Self::ClientSecretBasic, Self::ClientSecretPost, Self::None];
                let chosen = candidates
                    .into_iter()
                    .find(|chosen| server.supports_auth_method(*chosen));
                chosen.unwrap_or(Self::ClientSecretBasic)
            }
        }
    }
}

/// The client authentication of one request to the token endpoint.
#[derive(Clone, Debug)]
pub struct ClientAuth {
    /// The client's id.
    pub client_id: String,
    /// The authentication method.
    pub method: ClientAuthMethod,
    /// The secret, or the signed assertion.
    pub secret: Option<Secret>,
}

impl ClientAuth {
    /// Returns the fields for the form.
    #[must_use]
    pub fn form_fields(&self) -> Vec<(&'static str, String)> {
        let id = ("client_id", self.client_id.clone());
        let secret = || {
            self.secret
                .as_ref()
                .map(|secret| secret.expose().to_owned())
        };
        match self.method {
            ClientAuthMethod::None => vec![id],
            ClientAuthMethod::ClientSecretBasic => Vec::new(),
            ClientAuthMethod::ClientSecretPost => {
                let mut form = vec![id];
                form.extend(secret().map(|secret| ("client_secret", secret)));
                form
            }
            ClientAuthMethod::PrivateKeyJwt => {
                const KIND: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                let mut form = vec![id, ("client_assertion_type", KIND.to_owned())];
                form.extend(secret().map(|secret| ("client_assertion", secret)));
                form
            }
        }
    }

    /// Returns the value of the `Authorization` header, if the method uses it.
    /// Both parts are form-encoded first, so a colon in the id is not a
    /// separator.
    #[must_use]
    pub fn authorization_header(&self) -> Option<Secret> {
        if self.method != ClientAuthMethod::ClientSecretBasic {
            return None;
        }
        let encoded = |input: &str| encode_form([("", input)])[1..].to_owned();
        let secret = self.secret.as_ref().map_or("", Secret::expose);
        let pair = format!("{}:{}", encoded(&self.client_id), encoded(secret));
        Some(Secret::new(format!("Basic {}", STANDARD.encode(pair))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::JsonDocument;

    fn server(methods: &str) -> ServerMetadata {
        let input =
            format!(r#"{{"issuer": "i", "token_endpoint_auth_methods_supported": {methods}}}"#);
        ServerMetadata::from_document(JsonDocument::parse(input.as_bytes()).unwrap(), "i").unwrap()
    }

    #[test]
    fn the_registration_decides_and_then_the_server() {
        let post = server(r#"["client_secret_post"]"#);
        let silent = server("null");
        let choose = ClientAuthMethod::choose;
        assert_eq!(
            choose(None, true, &post),
            ClientAuthMethod::ClientSecretPost
        );
        assert_eq!(
            choose(None, true, &silent),
            ClientAuthMethod::ClientSecretBasic
        );
        assert_eq!(choose(None, false, &post), ClientAuthMethod::None);
        assert_eq!(
            choose(Some(ClientAuthMethod::ClientSecretBasic), true, &post),
            ClientAuthMethod::ClientSecretBasic
        );
        assert_eq!(
            choose(Some(ClientAuthMethod::None), true, &post),
            ClientAuthMethod::None
        );
        let none = server(r#"["none"]"#);
        assert_eq!(choose(None, true, &none), ClientAuthMethod::None);
    }

    #[test]
    fn the_header_escapes_what_would_divide_it() {
        let auth = ClientAuth {
            client_id: "a:b c".to_owned(),
            method: ClientAuthMethod::ClientSecretBasic,
            secret: Some("d:é".into()),
        };
        let header = auth.authorization_header().unwrap();
        let encoded = header.expose().strip_prefix("Basic ").unwrap();
        assert_eq!(STANDARD.decode(encoded).unwrap(), b"a%3Ab+c:d%3A%C3%A9");
        assert!(auth.form_fields().is_empty());
        assert!(!format!("{auth:?}").contains('é'));
    }

    #[test]
    fn each_way_puts_its_proof_where_it_belongs() {
        let form = |method| {
            let auth = ClientAuth {
                client_id: "me".to_owned(),
                method,
                secret: Some("hush".into()),
            };
            assert_eq!(
                auth.authorization_header().is_some(),
                method == ClientAuthMethod::ClientSecretBasic
            );
            auth.form_fields()
                .into_iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
        };
        assert_eq!(form(ClientAuthMethod::None), ["client_id"]);
        assert_eq!(
            form(ClientAuthMethod::ClientSecretPost),
            ["client_id", "client_secret"]
        );
        let signed = ["client_id", "client_assertion_type", "client_assertion"];
        assert_eq!(form(ClientAuthMethod::PrivateKeyJwt), signed);
    }
}

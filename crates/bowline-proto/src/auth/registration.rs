//! Dynamic client registration at an authorization server: RFC 7591.

use serde_json::{Map, Value, json};

use super::{ClientAuthMethod, JsonDocument, Scopes, Secret, ServerMetadata};

/// The type of the client application, which determines the allowed redirect
/// URIs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApplicationType {
    /// It runs on the user's machine.
    #[default]
    Native,
    /// It runs on a server.
    Web,
}

impl ApplicationType {
    /// Returns the name in a registration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Web => "web",
        }
    }
}

/// A registration request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RegistrationRequest {
    /// The client's name, shown to the user on the consent page.
    pub client_name: String,
    /// The redirect URIs.
    pub redirect_uris: Vec<String>,
    /// The type of the application.
    pub application_type: ApplicationType,
    /// The grant types it uses.
    pub grant_types: Vec<String>,
    /// The authentication method it will use.
    pub auth_method: ClientAuthMethod,
    /// The scopes it will request, at most.
    pub scope: Scopes,
    /// Further members of the request.
    pub extra: Map<String, Value>,
}

impl RegistrationRequest {
    /// Creates a request for a client that uses authorization codes and refresh
    /// tokens.
    #[must_use]
    pub fn new(client_name: &str, redirect_uri: &str) -> Self {
        Self {
            client_name: client_name.to_owned(),
            redirect_uris: vec![redirect_uri.to_owned()],
            application_type: ApplicationType::Native,
            grant_types: vec!["authorization_code".to_owned(), "refresh_token".to_owned()],
            auth_method: ClientAuthMethod::None,
            scope: Scopes::default(),
            extra: Map::new(),
        }
    }

    /// Adapts the request to the server's metadata: no authentication method
    /// and no grant type that it does not support. A native application cannot
    /// keep a secret, so it registers without one if possible.
    #[must_use]
    pub fn for_server(mut self, server: &ServerMetadata) -> Self {
        let candidates = [
            ClientAuthMethod::None,
            ClientAuthMethod::ClientSecretBasic,
            ClientAuthMethod::ClientSecretPost,
        ];
        if server.token_endpoint_auth_methods_supported.is_some() {
            let chosen = candidates
                .into_iter()
                .find(|chosen| server.supports_auth_method(*chosen));
            self.auth_method = chosen.unwrap_or(self.auth_method);
        }
        if let Some(supported) = &server.grant_types_supported {
            self.grant_types
                .retain(|grant| grant == "authorization_code" || supported.contains(grant));
        }
        self
    }

    /// Returns the body of the request.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut body = self.extra.clone();
        let mut put = |name: &str, value: Value| {
            body.insert(name.to_owned(), value);
        };
        put("client_name", json!(self.client_name));
        put("redirect_uris", json!(self.redirect_uris));
        put("application_type", json!(self.application_type.as_str()));
        put("grant_types", json!(self.grant_types));
        put("response_types", json!(["code"]));
        put(
            "token_endpoint_auth_method",
            json!(self.auth_method.as_str()),
        );
        if !self.scope.is_empty() {
            put("scope", json!(self.scope.to_string()));
        }
        Value::Object(body).to_string().into_bytes()
    }
}

/// A registered client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisteredClient {
    /// The client's id at this server.
    pub client_id: String,
    /// Its secret at this server, if it has one.
    pub client_secret: Option<Secret>,
    /// Its authentication method, if the server specified it.
    pub auth_method: Option<ClientAuthMethod>,
    /// When the secret expires, in seconds since 1970.
    pub secret_expires_at: Option<u64>,
}

impl RegisteredClient {
    /// Creates a client that was registered by other means.
    #[must_use]
    pub fn new(client_id: impl Into<String>, client_secret: Option<Secret>) -> Self {
        Self {
            client_id: client_id.into(),
            client_secret,
            auth_method: None,
            secret_expires_at: None,
        }
    }

    /// Reads the response to a registration; `None` if it has no client id.
    #[must_use]
    pub fn from_document(document: &JsonDocument) -> Option<Self> {
        let method = document.string("token_endpoint_auth_method");
        let expires = document.number("client_secret_expires_at");
        Some(Self {
            client_id: document.string("client_id")?.to_owned(),
            client_secret: document.string("client_secret").map(Secret::from),
            auth_method: method.and_then(ClientAuthMethod::parse),
            // Zero means never.
            secret_expires_at: expires.filter(|at| *at != 0),
        })
    }

    /// Returns whether the client is still valid at a time, in seconds since
    /// 1970.
    #[must_use]
    pub fn is_valid_at(&self, now: u64) -> bool {
        self.secret_expires_at.is_none_or(|at| now < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(rest: &str) -> ServerMetadata {
        let text = format!(r#"{{"issuer": "i"{rest}}}"#);
        ServerMetadata::from_document(JsonDocument::parse(text.as_bytes()).unwrap(), "i").unwrap()
    }

    #[test]
    fn a_request_says_what_kind_of_program_it_is() {
        let body = RegistrationRequest::new("Knots", "http://127.0.0.1:1/callback").to_json();
        let body = JsonDocument::parse(&body).unwrap();
        assert_eq!(body.string("application_type"), Some("native"));
        assert_eq!(body.string("token_endpoint_auth_method"), Some("none"));
        assert_eq!(
            body.strings("grant_types").unwrap(),
            ["authorization_code", "refresh_token"]
        );
        assert_eq!(body.get("scope"), None);
    }

    #[test]
    fn it_fits_the_server() {
        let fit = |rest: &str| RegistrationRequest::new("a", "b").for_server(&server(rest));
        let post = fit(r#", "token_endpoint_auth_methods_supported": ["client_secret_post"]"#);
        assert_eq!(post.auth_method, ClientAuthMethod::ClientSecretPost);
        assert_eq!(fit("").auth_method, ClientAuthMethod::None);
        let code = fit(r#", "grant_types_supported": ["authorization_code"]"#);
        assert_eq!(code.grant_types, ["authorization_code"]);
    }

    #[test]
    fn an_answer_is_read_and_its_secret_hidden() {
        let read = |text: &str| {
            RegisteredClient::from_document(&JsonDocument::parse(text.as_bytes()).unwrap())
        };
        let registered = read(
            r#"{"client_id": "a", "client_secret": "hush", "client_secret_expires_at": 100,
                "token_endpoint_auth_method": "client_secret_post"}"#,
        )
        .unwrap();
        assert_eq!(
            registered.auth_method,
            Some(ClientAuthMethod::ClientSecretPost)
        );
        assert!(registered.is_valid_at(99) && !registered.is_valid_at(100));
        assert!(!format!("{registered:?}").contains("hush"));
        let forever = read(r#"{"client_id": "a", "client_secret_expires_at": 0}"#).unwrap();
        assert!(forever.is_valid_at(u64::MAX));
        assert_eq!(read(r#"{"client_id": 5}"#), None);
    }
}

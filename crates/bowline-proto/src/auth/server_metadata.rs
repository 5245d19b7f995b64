//! Metadata of an authorization server: RFC 8414.

use std::fmt;

use super::{ClientAuthMethod, JsonDocument};

/// The metadata of an authorization server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerMetadata {
    /// The issuer. Exactly equal to the issuer that was looked up.
    pub issuer: String,
    /// The endpoint that users are sent to.
    pub authorization_endpoint: Option<String>,
    /// The endpoint that exchanges grants for tokens.
    pub token_endpoint: Option<String>,
    /// The endpoint for dynamic client registration.
    pub registration_endpoint: Option<String>,
    /// The supported scopes, if declared.
    pub scopes_supported: Option<Vec<String>>,
    /// The supported PKCE methods, if declared.
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// The supported client authentication methods, if declared.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The supported grant types, if declared.
    pub grant_types_supported: Option<Vec<String>>,
    /// Whether the URL of a client metadata document is accepted as client id.
    pub client_id_metadata_document_supported: bool,
    /// Whether its authorization responses contain `iss`.
    pub authorization_response_iss_parameter_supported: bool,
    /// Whether these are the defaults for a server without metadata.
    pub is_assumed: bool,
    /// The whole document, verbatim.
    pub document: JsonDocument,
}

/// Why metadata cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataError {
    /// It is for another issuer than the one that was looked up.
    IssuerMismatch,
    /// It does not declare `S256`, the only safe PKCE method.
    S256NotSupported,
    /// The endpoint is missing.
    MissingEndpoint(&'static str),
}

/// The base of the default endpoints, for servers without metadata: their
/// origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointBase<'a>(
    /// The origin, without a trailing slash.
    pub &'a str,
);

impl ServerMetadata {
    /// Reads a document that was found at a well-known URL of `issuer`.
    ///
    /// # Errors
    ///
    /// Returns an error if it names another issuer. Issuers are compared
    /// exactly: with a document for another issuer, one server could obtain the
    /// codes of another.
    pub fn from_document(document: JsonDocument, issuer: &str) -> Result<Self, MetadataError> {
        if document.string("issuer") != Some(issuer) {
            return Err(MetadataError::IssuerMismatch);
        }
        let string = |name: &str| document.string(name).map(str::to_owned);
        Ok(Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: string("authorization_endpoint"),
            token_endpoint: string("token_endpoint"),
            registration_endpoint: string("registration_endpoint"),
            scopes_supported: document.strings("scopes_supported"),
            code_challenge_methods_supported: document.strings("code_challenge_methods_supported"),
            token_endpoint_auth_methods_supported: document
                .strings("token_endpoint_auth_methods_supported"),
            grant_types_supported: document.strings("grant_types_supported"),
            client_id_metadata_document_supported: document
                .flag("client_id_metadata_document_supported"),
            authorization_response_iss_parameter_supported: document
                .flag("authorization_response_iss_parameter_supported"),
            is_assumed: false,
            document,
        })
    }

    /// Returns the defaults for servers of the first revision with
    /// authorization, which need not have metadata.
    #[must_use]
    pub fn with_default_endpoints(base: EndpointBase<'_>) -> Self {
        let endpoint = |name: &str| Some(format!("{}/{name}", base.0));
        Self {
            issuer: base.0.to_owned(),
            authorization_endpoint: endpoint("authorize"),
            token_endpoint: endpoint("token"),
            registration_endpoint: endpoint("register"),
            scopes_supported: None,
            code_challenge_methods_supported: None,
            token_endpoint_auth_methods_supported: None,
            grant_types_supported: None,
            client_id_metadata_document_supported: false,
            authorization_response_iss_parameter_supported: false,
            is_assumed: true,
            document: JsonDocument::default(),
        }
    }

    /// Returns the authorization endpoint, if PKCE is safe there: the server
    /// declares `S256`, or has no metadata.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not, or if the endpoint is missing.
    pub fn authorization_endpoint(&self) -> Result<&str, MetadataError> {
        let methods = self.code_challenge_methods_supported.as_ref();
        let supports_s256 =
            methods.is_some_and(|methods| methods.iter().any(|method| method == "S256"));
        if !supports_s256 && !self.is_assumed {
            return Err(MetadataError::S256NotSupported);
        }
        let endpoint = self.authorization_endpoint.as_deref();
        endpoint.ok_or(MetadataError::MissingEndpoint("authorization_endpoint"))
    }

    /// Returns the token endpoint.
    ///
    /// # Errors
    ///
    /// Returns an error if it is missing.
    pub fn token_endpoint(&self) -> Result<&str, MetadataError> {
        let endpoint = self.token_endpoint.as_deref();
        endpoint.ok_or(MetadataError::MissingEndpoint("token_endpoint"))
    }

    /// Returns whether clients may use this authentication method. A server
    /// that declares none accepts a secret in a header.
    #[must_use]
    pub fn supports_auth_method(&self, method: ClientAuthMethod) -> bool {
        match &self.token_endpoint_auth_methods_supported {
            Some(methods) => methods.iter().any(|name| name == method.as_str()),
            None => method == ClientAuthMethod::ClientSecretBasic,
        }
    }
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IssuerMismatch => f.write_str("its metadata is for another issuer"),
            Self::S256NotSupported => f.write_str("it does not declare support for PKCE with S256"),
            Self::MissingEndpoint(name) => write!(f, "its metadata has no {name}"),
        }
    }
}

impl std::error::Error for MetadataError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, issuer: &str) -> Result<ServerMetadata, MetadataError> {
        ServerMetadata::from_document(JsonDocument::parse(text.as_bytes()).unwrap(), issuer)
    }

    #[test]
    fn the_issuer_is_compared_letter_by_letter() {
        let text = r#"{"issuer": "https://a.example"}"#;
        assert!(read(text, "https://a.example").is_ok());
        for other in [
            "https://a.example/",
            "https://A.example",
            "https://a.example:443",
            "",
        ] {
            assert_eq!(
                read(text, other),
                Err(MetadataError::IssuerMismatch),
                "{other}"
            );
        }
        assert_eq!(read("{}", ""), Err(MetadataError::IssuerMismatch));
    }

    #[test]
    fn codes_are_asked_for_only_where_they_are_safe() {
        let endpoint = |methods: &str| {
            let text =
                format!(r#"{{"issuer": "i", "authorization_endpoint": "https://a/x"{methods}}}"#);
            read(&text, "i")
                .unwrap()
                .authorization_endpoint()
                .map(str::to_owned)
        };
        let methods = r#", "code_challenge_methods_supported": ["plain", "S256"]"#;
        assert_eq!(endpoint(methods).as_deref(), Ok("https://a/x"));
        let plain = r#", "code_challenge_methods_supported": ["plain"]"#;
        assert_eq!(endpoint(plain), Err(MetadataError::S256NotSupported));
        assert_eq!(endpoint(""), Err(MetadataError::S256NotSupported));
        let assumed = ServerMetadata::with_default_endpoints(EndpointBase("https://a"));
        assert_eq!(assumed.authorization_endpoint(), Ok("https://a/authorize"));
    }

    #[test]
    fn a_server_that_does_not_say_takes_a_header() {
        let silent = read(r#"{"issuer": "i"}"#, "i").unwrap();
        assert!(
            silent.supports_auth_method(ClientAuthMethod::ClientSecretBasic)
                && !silent.supports_auth_method(ClientAuthMethod::None)
        );
        let text = r#"{"issuer": "i", "token_endpoint_auth_methods_supported": ["none"]}"#;
        let open = read(text, "i").unwrap();
        assert!(
            !open.supports_auth_method(ClientAuthMethod::ClientSecretBasic)
                && open.supports_auth_method(ClientAuthMethod::None)
        );
    }
}

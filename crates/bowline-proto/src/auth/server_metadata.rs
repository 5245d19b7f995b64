//! What an authorization server says of itself: RFC 8414.

use std::fmt;

use super::{ClientAuthMethod, JsonDocument};

/// The metadata of an authorization server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerMetadata {
    /// Who it is. Equal, letter by letter, to the issuer that was looked for.
    pub issuer: String,
    /// Where users are sent.
    pub authorization_endpoint: Option<String>,
    /// Where codes become tokens.
    pub token_endpoint: Option<String>,
    /// Where clients register themselves.
    pub registration_endpoint: Option<String>,
    /// The scopes that it knows, where it says.
    pub scopes_supported: Option<Vec<String>>,
    /// The kinds of proof of a code's owner that it knows, where it says.
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// How clients may prove who they are, where it says.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The kinds of grant that it knows, where it says.
    pub grant_types_supported: Option<Vec<String>>,
    /// Whether a URL of a document about the client will do for a client id.
    pub client_id_metadata_document_supported: bool,
    /// Whether what comes back from it says whom it comes from.
    pub authorization_response_iss_parameter_supported: bool,
    /// Whether this was made up for a server that says nothing of itself.
    pub is_assumed: bool,
    /// All of it, as it came.
    pub document: JsonDocument,
}

/// Why metadata cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataError {
    /// It speaks for another issuer than the one that was looked for.
    IssuerMismatch,
    /// It does not offer the one kind of proof that is safe, or does not say.
    S256NotSupported,
    /// It has no such endpoint.
    MissingEndpoint(&'static str),
}

/// Where the endpoints are of servers that do not say: below their origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointBase<'a>(
    /// The origin, without a slash at its end.
    pub &'a str,
);

impl ServerMetadata {
    /// Reads a document that was found at a place of `issuer`.
    ///
    /// # Errors
    ///
    /// Where it names another issuer. That is compared letter by letter: a
    /// document that speaks for somebody else is how one server gets at the
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

    /// What is assumed of the first servers with authorization, which need not
    /// say anything of themselves.
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

    /// The authorization endpoint, if codes are safe there: the server says
    /// that it knows `S256`, or could not say.
    ///
    /// # Errors
    ///
    /// Where they are not, or there is no such endpoint.
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

    /// The token endpoint.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn token_endpoint(&self) -> Result<&str, MetadataError> {
        let endpoint = self.token_endpoint.as_deref();
        endpoint.ok_or(MetadataError::MissingEndpoint("token_endpoint"))
    }

    /// Whether clients may prove who they are in this way. A server that does
    /// not say takes a secret in a header.
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
            Self::IssuerMismatch => f.write_str("its metadata speaks for another issuer"),
            Self::S256NotSupported => f.write_str("it does not say that it protects codes by S256"),
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

//! What an authorization server says of itself: RFC 8414.

use std::fmt;

use super::{AuthMethod, Document};

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
    pub assumed: bool,
    /// All of it, as it came.
    pub document: Document,
}

/// Why metadata cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataError {
    /// It speaks for another issuer than the one that was looked for.
    WrongIssuer,
    /// It does not offer the one kind of proof that is safe, or does not say.
    NoS256,
    /// It has no such endpoint.
    NoEndpoint(&'static str),
}

/// Where the endpoints are of servers that do not say: below their origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointsAt<'a>(
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
    pub fn read(document: Document, issuer: &str) -> Result<Self, MetadataError> {
        if document.text("issuer") != Some(issuer) {
            return Err(MetadataError::WrongIssuer);
        }
        let text = |name: &str| document.text(name).map(str::to_owned);
        Ok(Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: text("authorization_endpoint"),
            token_endpoint: text("token_endpoint"),
            registration_endpoint: text("registration_endpoint"),
            scopes_supported: document.texts("scopes_supported"),
            code_challenge_methods_supported: document.texts("code_challenge_methods_supported"),
            token_endpoint_auth_methods_supported: document
                .texts("token_endpoint_auth_methods_supported"),
            grant_types_supported: document.texts("grant_types_supported"),
            client_id_metadata_document_supported: document
                .flag("client_id_metadata_document_supported"),
            authorization_response_iss_parameter_supported: document
                .flag("authorization_response_iss_parameter_supported"),
            assumed: false,
            document,
        })
    }

    /// What is assumed of the first servers with authorization, which need not
    /// say anything of themselves.
    #[must_use]
    pub fn assumed(at: EndpointsAt<'_>) -> Self {
        let endpoint = |name: &str| Some(format!("{}/{name}", at.0));
        Self {
            issuer: at.0.to_owned(),
            authorization_endpoint: endpoint("authorize"),
            token_endpoint: endpoint("token"),
            registration_endpoint: endpoint("register"),
            scopes_supported: None,
            code_challenge_methods_supported: None,
            token_endpoint_auth_methods_supported: None,
            grant_types_supported: None,
            client_id_metadata_document_supported: false,
            authorization_response_iss_parameter_supported: false,
            assumed: true,
            document: Document::default(),
        }
    }

    /// The authorization endpoint, if codes are safe there: the server says
    /// that it knows `S256`, or could not say.
    ///
    /// # Errors
    ///
    /// Where they are not, or there is no such endpoint.
    pub fn code_endpoint(&self) -> Result<&str, MetadataError> {
        let methods = self.code_challenge_methods_supported.as_ref();
        let safe = methods.is_some_and(|methods| methods.iter().any(|method| method == "S256"));
        if !safe && !self.assumed {
            return Err(MetadataError::NoS256);
        }
        let endpoint = self.authorization_endpoint.as_deref();
        endpoint.ok_or(MetadataError::NoEndpoint("authorization_endpoint"))
    }

    /// The token endpoint.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn token_endpoint(&self) -> Result<&str, MetadataError> {
        let endpoint = self.token_endpoint.as_deref();
        endpoint.ok_or(MetadataError::NoEndpoint("token_endpoint"))
    }

    /// Whether clients may prove who they are in this way. A server that does
    /// not say takes a secret in a header.
    #[must_use]
    pub fn takes(&self, method: AuthMethod) -> bool {
        match &self.token_endpoint_auth_methods_supported {
            Some(methods) => methods.iter().any(|name| name == method.as_str()),
            None => method == AuthMethod::Basic,
        }
    }
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongIssuer => f.write_str("its metadata speaks for another issuer"),
            Self::NoS256 => f.write_str("it does not say that it protects codes by S256"),
            Self::NoEndpoint(name) => write!(f, "its metadata has no {name}"),
        }
    }
}

impl std::error::Error for MetadataError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, issuer: &str) -> Result<ServerMetadata, MetadataError> {
        ServerMetadata::read(Document::parse(text.as_bytes()).unwrap(), issuer)
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
                Err(MetadataError::WrongIssuer),
                "{other}"
            );
        }
        assert_eq!(read("{}", ""), Err(MetadataError::WrongIssuer));
    }

    #[test]
    fn codes_are_asked_for_only_where_they_are_safe() {
        let endpoint = |methods: &str| {
            let text =
                format!(r#"{{"issuer": "i", "authorization_endpoint": "https://a/x"{methods}}}"#);
            read(&text, "i").unwrap().code_endpoint().map(str::to_owned)
        };
        let methods = r#", "code_challenge_methods_supported": ["plain", "S256"]"#;
        assert_eq!(endpoint(methods).as_deref(), Ok("https://a/x"));
        let plain = r#", "code_challenge_methods_supported": ["plain"]"#;
        assert_eq!(endpoint(plain), Err(MetadataError::NoS256));
        assert_eq!(endpoint(""), Err(MetadataError::NoS256));
        let assumed = ServerMetadata::assumed(EndpointsAt("https://a"));
        assert_eq!(assumed.code_endpoint(), Ok("https://a/authorize"));
    }

    #[test]
    fn a_server_that_does_not_say_takes_a_header() {
        let silent = read(r#"{"issuer": "i"}"#, "i").unwrap();
        assert!(silent.takes(AuthMethod::Basic) && !silent.takes(AuthMethod::None));
        let text = r#"{"issuer": "i", "token_endpoint_auth_methods_supported": ["none"]}"#;
        let open = read(text, "i").unwrap();
        assert!(!open.takes(AuthMethod::Basic) && open.takes(AuthMethod::None));
    }
}

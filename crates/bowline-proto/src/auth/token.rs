//! Responses of a token endpoint.

use std::fmt;

use super::{JsonDocument, Scopes, Secret};

/// The maximum length of a server's text in an error.
const MAX_ERROR_TEXT: usize = 200;

/// The tokens that an authorization server issued.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tokens {
    /// The access token for the resource.
    pub access_token: Secret,
    /// The type of the token: `Bearer`, `DPoP`.
    pub token_type: String,
    /// The lifetime in seconds, if the server specified it.
    pub expires_in: Option<u64>,
    /// The refresh token, to obtain another access token after expiry.
    pub refresh_token: Option<Secret>,
    /// The granted scopes, if they differ from the requested ones.
    pub scope: Option<Scopes>,
    /// The type of an issued token that is not an access token.
    pub issued_token_type: Option<String>,
}

/// A response of a token endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenResponse {
    /// Tokens were issued.
    Issued(Box<Tokens>),
    /// The request was refused.
    Error(OAuthError),
    /// The response is neither.
    Invalid,
}

/// An error from an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthError {
    code: String,
    description: Option<String>,
}

/// Parses the response of a token endpoint. Some servers send errors with a
/// success status, so the body decides.
#[must_use]
pub fn parse_token_response(status: u16, body: &[u8]) -> TokenResponse {
    let Ok(document) = JsonDocument::parse(body) else {
        return TokenResponse::Invalid;
    };
    if let Some(error) = OAuthError::from_document(&document) {
        return TokenResponse::Error(error);
    }
    match Tokens::from_document(&document) {
        Some(tokens) if (200..300).contains(&status) => TokenResponse::Issued(Box::new(tokens)),
        _ => TokenResponse::Invalid,
    }
}

impl Tokens {
    fn from_document(document: &JsonDocument) -> Option<Self> {
        let string = |name: &str| document.string(name).map(str::to_owned);
        let access_token = document.string("access_token")?;
        if !access_token.bytes().all(|byte| byte.is_ascii_graphic()) {
            // It could not be sent in a header.
            return None;
        }
        Some(Self {
            access_token: Secret::from(access_token),
            token_type: string("token_type").unwrap_or_else(|| "Bearer".to_owned()),
            expires_in: document.number("expires_in"),
            refresh_token: document.string("refresh_token").map(Secret::from),
            scope: document.string("scope").map(Scopes::parse),
            issued_token_type: string("issued_token_type"),
        })
    }

    /// Returns whether the token is bound to a key and must be sent with a
    /// proof.
    #[must_use]
    pub fn is_dpop_bound(&self) -> bool {
        self.token_type.eq_ignore_ascii_case("DPoP")
    }
}

impl OAuthError {
    /// Creates an error from its code and description. Only printable
    /// characters are kept, up to a limit, because people will see them.
    #[must_use]
    pub fn new(code: &str, description: Option<&str>) -> Self {
        Self {
            code: sanitize(code),
            description: description.map(sanitize).filter(|text| !text.is_empty()),
        }
    }

    /// Reads the error of a document, if it has one.
    #[must_use]
    pub fn from_document(document: &JsonDocument) -> Option<Self> {
        let code = document.string("error")?;
        Some(Self::new(code, document.string("error_description")))
    }

    /// Returns the code, such as `invalid_grant`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the server's description.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

fn sanitize(text: &str) -> String {
    let printable = text.chars().filter(|c| !c.is_control());
    printable.take(MAX_ERROR_TEXT).collect()
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)?;
        match &self.description {
            Some(description) => write!(f, ": {description}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for OAuthError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_and_hidden() {
        let body = br#"{"access_token": "hush", "token_type": "dpop", "expires_in": "60",
            "refresh_token": "hush2", "scope": "a b", "id_token": "hush3"}"#;
        let answer = parse_token_response(200, body);
        assert!(!format!("{answer:?}").contains("hush"));
        let TokenResponse::Issued(tokens) = answer else {
            panic!("tokens");
        };
        assert!(tokens.is_dpop_bound());
        assert_eq!(tokens.expires_in, Some(60));
        assert_eq!(tokens.scope.unwrap().to_string(), "a b");
    }

    #[test]
    fn errors_are_errors_whatever_the_status() {
        let body = br#"{"error": "invalid_grant", "error_description": "gone\u001b[31m\n"}"#;
        for status in [200, 400, 500] {
            let TokenResponse::Error(error) = parse_token_response(status, body) else {
                panic!("an error");
            };
            assert_eq!(error.to_string(), "invalid_grant: gone[31m");
        }
    }

    #[test]
    fn the_rest_is_unreadable() {
        for (status, body) in [
            (200, &b"<html>"[..]),
            (200, b"{}"),
            (500, br#"{"access_token": "a"}"#),
            (200, br#"{"access_token": ""}"#),
            (200, br#"{"access_token": "a\r\nx: y"}"#),
        ] {
            assert_eq!(parse_token_response(status, body), TokenResponse::Invalid);
        }
    }
}

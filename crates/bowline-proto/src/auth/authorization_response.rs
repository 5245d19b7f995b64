//! The authorization response, which the user's browser brings back.

use std::fmt;

use super::{Secret, ServerMetadata, constant_time_eq, decode_form, token::OAuthError};

/// The parameters of a redirect to us.
#[derive(Clone)]
pub struct AuthorizationResponse(Vec<(String, String)>);

/// Why an authorization response contains no usable code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthorizationResponseError {
    /// The `state` does not match: the response does not belong to our request.
    StateMismatch,
    /// The response comes from another server than the one that was asked.
    IssuerMismatch,
    /// The response has no `iss`, although the server's metadata declares it.
    MissingIssuer,
    /// The server or the user refused.
    Refused(OAuthError),
    /// The response has neither a code nor an error.
    MissingCode,
}

impl AuthorizationResponse {
    /// Parses the URL that the browser was redirected to, or its query alone.
    #[must_use]
    pub fn parse(url: &str) -> Self {
        let url = url.split('#').next().unwrap_or_default();
        let query = url.split_once('?').map_or(url, |(_, query)| query);
        Self(decode_form(query))
    }

    /// Returns a parameter, if it occurs exactly once: with two, it is
    /// ambiguous which one counts.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        let mut matching = self.0.iter().filter(|(key, _)| key == name);
        let value = matching.next().map(|(_, value)| value.as_str());
        value.filter(|_| matching.next().is_none())
    }

    /// Returns the code, if this is a response to our request, from the server
    /// that we asked.
    ///
    /// The issuer is compared exactly. If it is wrong, nothing else of the
    /// response is passed on, since someone else wrote it.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not, or if the server refused.
    pub fn code(
        &self,
        state: &str,
        server: &ServerMetadata,
    ) -> Result<Secret, AuthorizationResponseError> {
        let received = self.param("state").unwrap_or_default();
        if state.is_empty() || !constant_time_eq(received, state) {
            return Err(AuthorizationResponseError::StateMismatch);
        }
        let has_issuer = self.0.iter().any(|(key, _)| key == "iss");
        match self.param("iss") {
            Some(issuer) if issuer == server.issuer => {}
            Some(_) => return Err(AuthorizationResponseError::IssuerMismatch),
            None if has_issuer => return Err(AuthorizationResponseError::IssuerMismatch),
            None if server.authorization_response_iss_parameter_supported => {
                return Err(AuthorizationResponseError::MissingIssuer);
            }
            None => {}
        }
        if let Some(code) = self.param("error") {
            let description = self.param("error_description");
            return Err(AuthorizationResponseError::Refused(OAuthError::new(
                code,
                description,
            )));
        }
        match self.param("code") {
            Some(code) if !code.is_empty() => Ok(Secret::from(code)),
            _ => Err(AuthorizationResponseError::MissingCode),
        }
    }
}

impl fmt::Debug for AuthorizationResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        f.debug_set().entries(names).finish()
    }
}

impl fmt::Display for AuthorizationResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StateMismatch => f.write_str("the authorization response does not belong to this request: its state does not match"),
            Self::IssuerMismatch => {
                f.write_str("the authorization response comes from another server: its issuer does not match")
            }
            Self::MissingIssuer => f.write_str(
                "the authorization response has no iss parameter, although the server's metadata declares it",
            ),
            Self::Refused(error) => error.fmt(f),
            Self::MissingCode => f.write_str("the authorization response has neither a code nor an error"),
        }
    }
}

impl std::error::Error for AuthorizationResponseError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::JsonDocument;

    fn server(advertised: bool) -> ServerMetadata {
        let text = format!(
            r#"{{"issuer": "https://as",
                "authorization_response_iss_parameter_supported": {advertised}}}"#
        );
        let document = JsonDocument::parse(text.as_bytes()).unwrap();
        ServerMetadata::from_document(document, "https://as").unwrap()
    }

    #[track_caller]
    fn check(query: &str, advertised: bool, expected: Result<&str, AuthorizationResponseError>) {
        let redirect =
            AuthorizationResponse::parse(&format!("http://127.0.0.1:1/callback?{query}#x"));
        let code = redirect.code("s", &server(advertised));
        assert_eq!(code, expected.map(Secret::from), "{query}");
    }

    #[test]
    fn codes_come_from_whom_we_asked() {
        check("code=c&state=s&iss=https://as", true, Ok("c"));
        check("code=c&state=s&iss=https%3A%2F%2Fas", false, Ok("c"));
        check("code=c&state=s", false, Ok("c"));
        check(
            "code=c&state=s",
            true,
            Err(AuthorizationResponseError::MissingIssuer),
        );
        for wrong in ["https://as/", "https://AS", "https://evil", ""] {
            let query = format!("code=c&state=s&iss={wrong}");
            check(
                &query,
                true,
                Err(AuthorizationResponseError::IssuerMismatch),
            );
            check(
                &query,
                false,
                Err(AuthorizationResponseError::IssuerMismatch),
            );
        }
        let twice = "code=c&state=s&iss=https://as&iss=https://as";
        check(twice, true, Err(AuthorizationResponseError::IssuerMismatch));
    }

    #[test]
    fn answers_to_something_else_are_not_answers() {
        for query in [
            "code=c",
            "code=c&state=",
            "code=c&state=t",
            "code=c&state=s&state=s",
        ] {
            check(query, false, Err(AuthorizationResponseError::StateMismatch));
        }
        check(
            "state=s",
            false,
            Err(AuthorizationResponseError::MissingCode),
        );
        check(
            "state=s&code=",
            false,
            Err(AuthorizationResponseError::MissingCode),
        );
        check(
            "state=s&code=a&code=b",
            false,
            Err(AuthorizationResponseError::MissingCode),
        );
    }

    #[test]
    fn the_words_of_strangers_are_not_passed_on() {
        let query = "error=access_denied&error_description=call+555&state=s&iss=https://evil";
        check(
            query,
            false,
            Err(AuthorizationResponseError::IssuerMismatch),
        );
        let query = "error=access_denied&error_description=no&state=s&iss=https://as";
        let refused = OAuthError::new("access_denied", Some("no"));
        check(
            query,
            false,
            Err(AuthorizationResponseError::Refused(refused)),
        );
    }

    #[test]
    fn a_code_is_not_shown() {
        let received = format!("{:?}", AuthorizationResponse::parse("code=hush&state=x"));
        assert!(!received.contains("hush"), "{received}");
    }
}

//! Request admission: checks that a request has a token from a known issuer for
//! this server.

use std::net::IpAddr;

use http::request::Parts;

use super::{
    AccessToken, Protection, TokenClaims, VerifyError,
    lifetime::Recheck,
    rejection::AuthRejection,
    scope,
    token::{self, Scheme},
};
use crate::jose::CompactJws;

impl Protection {
    /// Verifies a request's token and returns its claims. The token is removed
    /// from the request in any case.
    pub(crate) async fn admit(
        &self,
        parts: &mut Parts,
        peer: Option<IpAddr>,
    ) -> Result<TokenClaims, (AuthRejection, Scheme)> {
        let presented = match token::take_token(parts) {
            Ok(Some(presented)) if self.accepts_scheme(presented.scheme) => presented,
            Ok(_) => return Err((AuthRejection::NoToken, Scheme::Bearer)),
            Err(why) => return Err((AuthRejection::MalformedRequest(why), Scheme::Bearer)),
        };
        let scheme = presented.scheme;
        let token = AccessToken {
            secret: presented.token.expose(),
            peer,
        };
        let result = self.authenticate(scheme, token, parts).await;
        let claims = result.map_err(|refused| (refused, scheme))?;
        if claims.expires_at().is_none() {
            let recheck = Recheck::new(self, &claims, presented.token, peer);
            parts.extensions.insert(recheck);
        }
        Ok(claims)
    }

    async fn authenticate(
        &self,
        scheme: Scheme,
        token: AccessToken<'_>,
        parts: &mut Parts,
    ) -> Result<TokenClaims, AuthRejection> {
        let claims = self.verify(token).await?;
        let claims = claims.with_scope_implication(self.scope_implication().cloned());
        match (scheme, claims.key_thumbprint(), self.proof_checker()) {
            (Scheme::Bearer, None, _) => {}
            (Scheme::Bearer, Some(_), _) => {
                return Err(AuthRejection::InvalidToken(
                    "the token is bound to a key and cannot be used as a bearer token",
                ));
            }
            (Scheme::Dpop, Some(key), Some(checker)) => {
                let bound = (token, &claims, key);
                checker.check(parts, bound, self.resource_url()).await?;
            }
            (Scheme::Dpop, _, _) => {
                return Err(AuthRejection::InvalidToken(
                    "the token is not bound to a key and cannot be used with DPoP",
                ));
            }
        }
        if !self
            .required_scopes()
            .iter()
            .all(|scope| claims.allows(scope))
        {
            return Err(AuthRejection::InsufficientScope(
                self.required_scopes().to_vec(),
            ));
        }
        Ok(claims)
    }

    /// Verifies the token with the matching verifier and applies the checks
    /// that hold for every issuer.
    ///
    /// Verifiers that work locally are all tried. An issuer is shown the token
    /// only if the token names that issuer, or if it names none and has the
    /// prefix of that issuer's tokens.
    pub(super) async fn verify(
        &self,
        token: AccessToken<'_>,
    ) -> Result<TokenClaims, AuthRejection> {
        let claimed_issuer = CompactJws::parse(token.secret()).ok();
        let claimed_issuer = claimed_issuer.and_then(|token| token.claimed_issuer());
        let mut refused = None;
        let mut has_tried_opaque = false;
        for verifier in self.verifiers() {
            let prefix_of_verifier = verifier.opaque_prefix();
            if let Some(prefix) = prefix_of_verifier {
                let is_candidate = match &claimed_issuer {
                    Some(issuer) => **issuer == *verifier.issuer(),
                    None => {
                        token.secret().starts_with(prefix)
                            && (!has_tried_opaque || self.shares_opaque_tokens())
                    }
                };
                if !is_candidate {
                    continue;
                }
                has_tried_opaque = true;
            }
            let tries_next = prefix_of_verifier.is_some()
                && claimed_issuer.is_none()
                && self.shares_opaque_tokens();
            match verifier.verify(token).await {
                Ok(claims) => {
                    let claims = self.check_claims(claims, verifier.issuer())?;
                    self.revocations().check(token.secret()).await?;
                    return Ok(claims);
                }
                Err(VerifyError::OtherIssuer) => {}
                Err(VerifyError::Invalid(why)) if tries_next => {
                    refused.get_or_insert(AuthRejection::InvalidToken(why));
                }
                // Another verifier may know the token; if none does, this one
                // might have.
                Err(VerifyError::Unavailable) if tries_next => {
                    refused = Some(AuthRejection::Unavailable);
                }
                Err(VerifyError::Invalid(why)) => return Err(AuthRejection::InvalidToken(why)),
                Err(VerifyError::Unavailable) => return Err(AuthRejection::Unavailable),
            }
        }
        let unknown = AuthRejection::InvalidToken("the issuer of the token is unknown");
        Err(refused.unwrap_or(unknown))
    }

    /// Checks the requirements that hold for every token.
    fn check_claims(
        &self,
        claims: TokenClaims,
        issuer: &str,
    ) -> Result<TokenClaims, AuthRejection> {
        if claims.issuer() != issuer {
            return Err(AuthRejection::InvalidToken(
                "the token was issued by another issuer",
            ));
        }
        let is_ours = |audience: &str| self.audiences().iter().any(|it| **it == *audience);
        if !claims.audiences().any(is_ours) {
            return Err(AuthRejection::InvalidToken(
                "the token was issued for another audience",
            ));
        }
        let is_named = |name: Option<&str>| name.is_some_and(|name| !name.is_empty());
        if !is_named(claims.subject().or(claims.client_id())) {
            return Err(AuthRejection::InvalidToken(
                "the token has an empty subject or client id",
            ));
        }
        Ok(claims)
    }

    /// Returns all scopes a call needs: the required ones and its own.
    pub(crate) fn all_scopes(&self, additional: &[Box<str>]) -> Vec<Box<str>> {
        let mut all = self.required_scopes().to_vec();
        scope::push_unique(&mut all, additional.iter().map(|name| &**name));
        all
    }
}

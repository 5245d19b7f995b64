//! Letting requests in: with a token, from a known issuer, for this server.

use http::request::Parts;

use super::{
    AccessToken, Grant, Protection, Refusal,
    refused::Refused,
    scope,
    token::{self, Presented, Scheme},
};

impl Protection {
    /// Says what a request's sender may do here. The token is taken out of the
    /// request, whatever comes of it.
    pub(crate) async fn admit(&self, parts: &mut Parts) -> Result<Grant, (Refused, Scheme)> {
        let presented = match token::take(parts) {
            Ok(Some(presented)) if self.welcomes(presented.scheme) => presented,
            Ok(_) => return Err((Refused::NoToken, Scheme::Bearer)),
            Err(why) => return Err((Refused::Malformed(why), Scheme::Bearer)),
        };
        let scheme = presented.scheme;
        let judged = self.judge(&presented, parts).await;
        judged.map_err(|refused| (refused, scheme))
    }

    async fn judge(&self, presented: &Presented, parts: &mut Parts) -> Result<Grant, Refused> {
        let grant = self.verify(AccessToken(&presented.token)).await?;
        let grant = grant.under(self.hierarchy().cloned());
        match (presented.scheme, grant.key(), self.proofs()) {
            (Scheme::Bearer, None, _) => {}
            (Scheme::Bearer, Some(_), _) => {
                return Err(Refused::Invalid("the token is bound to a key"));
            }
            (Scheme::Dpop, Some(key), Some(proofs)) => {
                let bound = (AccessToken(&presented.token), key);
                proofs.check(parts, bound, self.address())?;
            }
            (Scheme::Dpop, _, _) => {
                return Err(Refused::Invalid("the token is not bound to a key"));
            }
        }
        if !self.scopes().iter().all(|scope| grant.allows(scope)) {
            return Err(Refused::Insufficient(self.scopes().to_vec()));
        }
        Ok(grant)
    }

    /// Has the token verified by whoever knows its issuer, and checks what must
    /// hold whoever that was.
    async fn verify(&self, token: AccessToken<'_>) -> Result<Grant, Refused> {
        for verifier in self.verifiers() {
            let grant = match verifier.verify(token).await {
                Ok(grant) => grant,
                Err(Refusal::NotOurs) => continue,
                Err(Refusal::Invalid(why)) => return Err(Refused::Invalid(why)),
                Err(Refusal::Unavailable) => return Err(Refused::Unavailable),
            };
            if grant.issuer() != verifier.issuer() {
                return Err(Refused::Invalid("the token is from another issuer"));
            }
            let ours = |audience: &str| self.audiences().iter().any(|it| **it == *audience);
            if !grant.audiences().any(ours) {
                return Err(Refused::Invalid("the token is for another audience"));
            }
            let named = |name: Option<&str>| name.is_some_and(|name| !name.is_empty());
            if !named(grant.subject().or(grant.client_id())) {
                return Err(Refused::Invalid("the token is nobody's"));
            }
            return Ok(grant);
        }
        Err(Refused::Invalid("the token is from no issuer known here"))
    }

    /// All scopes that a call takes: those of every request, and its own.
    pub(crate) fn all_scopes(&self, own: &[Box<str>]) -> Vec<Box<str>> {
        let mut all = self.scopes().to_vec();
        scope::add(&mut all, own.iter().map(|name| &**name));
        all
    }
}

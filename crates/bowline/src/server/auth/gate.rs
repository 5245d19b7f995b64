//! Letting requests in: with a token, from a known issuer, for this server.

use std::net::IpAddr;

use http::request::Parts;

use super::{
    AccessToken, Grant, Protection, Refusal,
    lifetime::Recheck,
    refused::Refused,
    scope,
    token::{self, Scheme},
};
use crate::jose::Compact;

impl Protection {
    /// Says what a request's sender may do here. The token is taken out of the
    /// request, whatever comes of it.
    pub(crate) async fn admit(
        &self,
        parts: &mut Parts,
        peer: Option<IpAddr>,
    ) -> Result<Grant, (Refused, Scheme)> {
        let presented = match token::take(parts) {
            Ok(Some(presented)) if self.welcomes(presented.scheme) => presented,
            Ok(_) => return Err((Refused::NoToken, Scheme::Bearer)),
            Err(why) => return Err((Refused::Malformed(why), Scheme::Bearer)),
        };
        let scheme = presented.scheme;
        let token = AccessToken {
            secret: presented.token.expose(),
            peer,
        };
        let judged = self.judge(scheme, token, parts).await;
        let grant = judged.map_err(|refused| (refused, scheme))?;
        if grant.expires().is_none() {
            let recheck = Recheck::new(self, &grant, presented.token, peer);
            parts.extensions.insert(recheck);
        }
        Ok(grant)
    }

    async fn judge(
        &self,
        scheme: Scheme,
        token: AccessToken<'_>,
        parts: &mut Parts,
    ) -> Result<Grant, Refused> {
        let grant = self.verify(token).await?;
        let grant = grant.under(self.hierarchy().cloned());
        match (scheme, grant.key(), self.proofs()) {
            (Scheme::Bearer, None, _) => {}
            (Scheme::Bearer, Some(_), _) => {
                return Err(Refused::Invalid("the token is bound to a key"));
            }
            (Scheme::Dpop, Some(key), Some(proofs)) => {
                let bound = (token, &grant, key);
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
    ///
    /// Those who verify it by themselves are all asked. An issuer is shown it
    /// only where it is the one that the token names, or where the token names
    /// none and is such as this issuer gives.
    pub(super) async fn verify(&self, token: AccessToken<'_>) -> Result<Grant, Refused> {
        let named = Compact::read(token.secret()).ok();
        let named = named.and_then(|token| token.claimed_issuer());
        let mut refused = None;
        let mut shown = false;
        for verifier in self.verifiers() {
            let shows = verifier.opaque_prefix();
            if let Some(prefix) = shows {
                let is_its_own = match &named {
                    Some(issuer) => **issuer == *verifier.issuer(),
                    None => token.secret().starts_with(prefix) && (!shown || self.shares_opaque()),
                };
                if !is_its_own {
                    continue;
                }
                shown = true;
            }
            let goes_on = shows.is_some() && named.is_none() && self.shares_opaque();
            match verifier.verify(token).await {
                Ok(grant) => return self.accept(grant, verifier.issuer()),
                Err(Refusal::NotOurs) => {}
                Err(Refusal::Invalid(why)) if goes_on => {
                    refused.get_or_insert(Refused::Invalid(why));
                }
                // The others may know it; if none does, this one might have.
                Err(Refusal::Unavailable) if goes_on => refused = Some(Refused::Unavailable),
                Err(Refusal::Invalid(why)) => return Err(Refused::Invalid(why)),
                Err(Refusal::Unavailable) => return Err(Refused::Unavailable),
            }
        }
        let unknown = Refused::Invalid("the token is from no issuer known here");
        Err(refused.unwrap_or(unknown))
    }

    /// Checks what must hold of every grant.
    fn accept(&self, grant: Grant, issuer: &str) -> Result<Grant, Refused> {
        if grant.issuer() != issuer {
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
        Ok(grant)
    }

    /// All scopes that a call takes: those of every request, and its own.
    pub(crate) fn all_scopes(&self, own: &[Box<str>]) -> Vec<Box<str>> {
        let mut all = self.scopes().to_vec();
        scope::add(&mut all, own.iter().map(|name| &**name));
        all
    }
}

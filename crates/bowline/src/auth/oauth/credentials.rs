//! What requests are given, and what is done when that is refused.

use reqwest::{
    Method, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE},
};

use super::{
    OAuth,
    account::{Held, now},
    flow::Refused,
    proof::NONCE,
    work::Work,
};
use crate::{
    auth::{AuthError, AuthErrorKind, Secret},
    proto::auth::Demand,
    transport::{Authorizer, BoxFuture, Challenged, Outbound, Unauthorized, Verdict},
};

impl Authorizer for OAuth {
    fn headers<'a>(
        &'a self,
        request: Outbound<'a>,
    ) -> BoxFuture<'a, Result<HeaderMap, Unauthorized>> {
        let work = self.work(request.server);
        Box::pin(async move {
            if !work.account.looked() {
                work.clone().detached(Work::recalled).await?;
            }
            let is_machine = work.settings.way.is_machine();
            if is_machine && work.account.held().is_none() && work.told().is_some() {
                work.clone().detached(Work::obtain_ahead).await?;
            }
            if let Some(held) = work.account.held()
                && held.is_due(now())
                && (held.refresh_token.is_some() || is_machine)
            {
                let due = held.access_token.clone();
                // If it fails, the server will say what it wants.
                let _ = work.clone().detached(|work| work.renew_if_due(due)).await;
            }
            match work.account.held() {
                Some(held) => Ok(work.credentials(&held, request.method, request.url)?),
                None => Ok(HeaderMap::new()),
            }
        })
    }

    fn challenged<'a>(
        &'a self,
        request: Outbound<'a>,
        challenge: Challenged<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Unauthorized>> {
        let work = self.work(request.server);
        let values = challenge.headers.get_all(WWW_AUTHENTICATE).iter();
        let demand = Demand::read(values.map(HeaderValue::as_bytes));
        let refused = Refused {
            demand,
            token: token_in(challenge.sent),
            attempt: challenge.attempt,
        };
        let has_nonce = challenge.headers.contains_key(NONCE);
        Box::pin(async move {
            let error = refused.demand.error.as_deref();
            let verdict = match (challenge.status, error) {
                // It was taken note of when the answer came.
                (401, Some("use_dpop_nonce")) if has_nonce => Verdict::Again,
                (401, _) => work.detached(|work| work.admit(refused)).await?,
                (403, Some("insufficient_scope")) => {
                    work.detached(|work| work.step_up(refused)).await?
                }
                _ => Verdict::Leave,
            };
            Ok(verdict)
        })
    }

    fn answered(&self, request: Outbound<'_>, headers: &HeaderMap) {
        let nonce = headers.get(NONCE).and_then(|value| value.to_str().ok());
        if let Some(nonce) = nonce {
            let account = self.work(request.server).account;
            account.saw_nonce(request.url, nonce);
        }
    }
}

impl Work {
    /// What a request to the server is given.
    pub(super) fn credentials(
        &self,
        held: &Held,
        method: &Method,
        url: &Url,
    ) -> Result<HeaderMap, AuthError> {
        let token = &held.access_token;
        let mut headers = HeaderMap::with_capacity(2);
        let scheme = match &held.key {
            None => "Bearer",
            Some(key) => {
                let nonce = self.account.nonce(url);
                let proof = key.prove(method.as_str(), url, nonce.as_deref(), Some(token))?;
                headers.insert(HeaderName::from_static("dpop"), value(&proof)?);
                "DPoP"
            }
        };
        let authorization = value(&format!("{scheme} {}", token.expose()))?;
        headers.insert(AUTHORIZATION, authorization);
        Ok(headers)
    }
}

/// The token in headers of ours.
fn token_in(headers: &HeaderMap) -> Option<Secret> {
    let sent = headers.get(AUTHORIZATION)?.to_str().ok()?;
    sent.split_once(' ').map(|(_, token)| Secret::from(token))
}

fn value(text: &str) -> Result<HeaderValue, AuthError> {
    let value = HeaderValue::from_str(text);
    let why = "a token cannot be sent in a header";
    let mut value = value.map_err(|_| AuthError::new(AuthErrorKind::Key, why))?;
    value.set_sensitive(true);
    Ok(value)
}

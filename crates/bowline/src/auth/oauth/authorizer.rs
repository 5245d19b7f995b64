//! The credentials of requests, and the response to challenges.

use reqwest::{
    Method, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE},
};

use super::{
    OAuth,
    account::{ActiveTokens, now},
    context::AuthContext,
    dpop::NONCE_HEADER,
    flow::RejectedRequest,
};
use crate::{
    auth::{AuthError, AuthErrorKind, Secret},
    proto::auth::ChallengeSummary,
    transport::{
        AuthChallenge, Authorizer, BoxFuture, ChallengeAction, OutboundRequest, Unauthorized,
    },
};

impl Authorizer for OAuth {
    fn headers<'a>(
        &'a self,
        request: OutboundRequest<'a>,
    ) -> BoxFuture<'a, Result<HeaderMap, Unauthorized>> {
        let context = self.context(request.server);
        Box::pin(async move {
            if !context.account.store_loaded() {
                context
                    .clone()
                    .run_detached(AuthContext::load_stored_locked)
                    .await?;
            }
            let is_unattended = context.settings.grant_flow.is_unattended();
            if is_unattended
                && context.account.tokens().is_none()
                && context.configured_discovery().is_some()
            {
                context
                    .clone()
                    .run_detached(AuthContext::obtain_before_request)
                    .await?;
            }
            if let Some(active) = context.account.tokens()
                && active.needs_renewal(now())
                && (active.refresh_token.is_some() || is_unattended)
            {
                let expiring = active.access_token.clone();
                // If it fails, the server sends a challenge.
                let _ = context
                    .clone()
                    .run_detached(|context| context.renew_if_due(expiring))
                    .await;
            }
            match context.account.tokens() {
                Some(active) => Ok(context.credentials(&active, request.method, request.url)?),
                None => Ok(HeaderMap::new()),
            }
        })
    }

    fn on_challenge<'a>(
        &'a self,
        request: OutboundRequest<'a>,
        challenge: AuthChallenge<'a>,
    ) -> BoxFuture<'a, Result<ChallengeAction, Unauthorized>> {
        let context = self.context(request.server);
        let values = challenge.headers.get_all(WWW_AUTHENTICATE).iter();
        let summary = ChallengeSummary::from_headers(values.map(HeaderValue::as_bytes));
        let rejected = RejectedRequest {
            challenge: summary,
            token: token_from_headers(challenge.sent),
            attempt: challenge.attempt,
        };
        let has_nonce = challenge.headers.contains_key(NONCE_HEADER);
        Box::pin(async move {
            let error = rejected.challenge.error.as_deref();
            let action = match (challenge.status, error) {
                // The nonce was recorded when the response arrived.
                (401, Some("use_dpop_nonce")) if has_nonce => ChallengeAction::Retry,
                (401, _) => {
                    context
                        .run_detached(|context| context.authorize(rejected))
                        .await?
                }
                (403, Some("insufficient_scope")) => {
                    context
                        .run_detached(|context| context.step_up(rejected))
                        .await?
                }
                _ => ChallengeAction::Fail,
            };
            Ok(action)
        })
    }

    fn on_response(&self, request: OutboundRequest<'_>, headers: &HeaderMap) {
        let nonce = headers
            .get(NONCE_HEADER)
            .and_then(|value| value.to_str().ok());
        if let Some(nonce) = nonce {
            let account = self.context(request.server).account;
            account.record_nonce(request.url, nonce);
        }
    }
}

impl AuthContext {
    /// Returns the credential headers for a request to the server.
    pub(super) fn credentials(
        &self,
        active: &ActiveTokens,
        method: &Method,
        url: &Url,
    ) -> Result<HeaderMap, AuthError> {
        let token = &active.access_token;
        let mut headers = HeaderMap::with_capacity(2);
        let scheme = match &active.key {
            None => "Bearer",
            Some(key) => {
                let nonce = self.account.nonce(url);
                let proof = key.sign_proof(method.as_str(), url, nonce.as_deref(), Some(token))?;
                headers.insert(HeaderName::from_static("dpop"), sensitive_header(&proof)?);
                "DPoP"
            }
        };
        let authorization = sensitive_header(&format!("{scheme} {}", token.expose()))?;
        headers.insert(AUTHORIZATION, authorization);
        Ok(headers)
    }
}

/// Returns the token in headers that we sent.
fn token_from_headers(headers: &HeaderMap) -> Option<Secret> {
    let sent = headers.get(AUTHORIZATION)?.to_str().ok()?;
    sent.split_once(' ').map(|(_, token)| Secret::from(token))
}

fn sensitive_header(content: &str) -> Result<HeaderValue, AuthError> {
    let value = HeaderValue::from_str(content);
    let reason = "a token contains characters that are not allowed in a header";
    let mut value = value.map_err(|_| AuthError::new(AuthErrorKind::Key, reason))?;
    value.set_sensitive(true);
    Ok(value)
}

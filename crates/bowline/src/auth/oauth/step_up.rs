//! Step-up authorization: requesting scopes that are missing.

use super::{account::ActiveTokens, context::AuthContext, flow::RejectedRequest};
use crate::{
    auth::{AuthError, AuthErrorKind},
    proto::auth::ChallengeSummary,
    transport::ChallengeAction,
};

impl AuthContext {
    /// Handles an insufficient scope. Requests all earlier scopes and the
    /// missing ones, once for each such set: a server that still refuses will
    /// keep refusing.
    pub(super) async fn step_up(
        self,
        rejected: RejectedRequest,
    ) -> Result<ChallengeAction, AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        let active = self.account.tokens();
        if active.as_ref().map(|active| &active.access_token) != rejected.token.as_ref() {
            return Ok(ChallengeAction::Retry);
        }
        let missing = rejected.challenge.scope.clone().unwrap_or_default();
        let previous = active
            .map(|active| active.requested.clone())
            .unwrap_or_default();
        let wanted = previous.union(&missing);
        if self.account.was_attempted(&wanted) {
            let reason = format!("insufficient scope: the server requires {missing}");
            return Err(AuthError::new(AuthErrorKind::Rejected, reason));
        }
        self.account.record_missing(&missing);
        let discovery = self.discover(&rejected.challenge).await?;
        self.account.record_attempt(&wanted);
        self.obtain(&discovery, wanted, &rejected.challenge).await?;
        self.account.clear_missing();
        Ok(ChallengeAction::Retry)
    }

    /// Requests the scopes that the application configured or calls have
    /// lacked, and that these tokens were not requested with.
    pub(super) async fn request_missing_scopes(
        self,
        active: &ActiveTokens,
    ) -> Result<(), AuthError> {
        let wanted = self.settings.scopes.union(&self.account.missing_scopes());
        if active.requested.contains_all(&wanted) {
            return Ok(());
        }
        let challenge = ChallengeSummary {
            scope: Some(wanted),
            dpop_required: active.key.is_some(),
            ..ChallengeSummary::default()
        };
        let rejected = RejectedRequest {
            challenge,
            token: Some(active.access_token.clone()),
            attempt: 0,
        };
        self.step_up(rejected).await.map(drop)
    }
}

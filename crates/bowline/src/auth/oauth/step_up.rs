//! Asking for more, where what we have is not enough.

use super::{account::ActiveTokens, context::AuthContext, flow::RejectedRequest};
use crate::{
    auth::{AuthError, AuthErrorKind},
    proto::auth::ChallengeSummary,
    transport::ChallengeAction,
};

impl AuthContext {
    /// The server let us in, but not to this. Asks for all that was asked for
    /// before and for what is missing, once for each such set: a server that
    /// still refuses will go on refusing.
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
            let reason = format!("the server wants more than was granted; it names: {missing}");
            return Err(AuthError::new(AuthErrorKind::Rejected, reason));
        }
        self.account.record_missing(&missing);
        let discovery = self.discover(&rejected.challenge).await?;
        self.account.record_attempt(&wanted);
        self.obtain(&discovery, wanted, &rejected.challenge).await?;
        self.account.clear_missing();
        Ok(ChallengeAction::Retry)
    }

    /// Asks for what the application wants, or calls have lacked, and these
    /// tokens were not asked for.
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

//! Asking for more, where what we have is not enough.

use super::{account::Held, flow::Refused, work::Work};
use crate::{
    auth::{AuthError, AuthErrorKind},
    proto::auth::Demand,
    transport::Verdict,
};

impl Work {
    /// The server let us in, but not to this. Asks for all that was asked for
    /// before and for what is missing, once for each such set: a server that
    /// still refuses will go on refusing.
    pub(super) async fn step_up(self, refused: Refused) -> Result<Verdict, AuthError> {
        let _turn = self.account.turn.lock().await;
        let held = self.account.held();
        if held.as_ref().map(|held| &held.access_token) != refused.token.as_ref() {
            return Ok(Verdict::Again);
        }
        let missing = refused.demand.scope.clone().unwrap_or_default();
        let before = held.map(|held| held.requested.clone()).unwrap_or_default();
        let wanted = before.union(&missing);
        if self.account.has_tried(&wanted) {
            let why = format!("the server wants more than was granted; it names: {missing}");
            return Err(AuthError::new(AuthErrorKind::Rejected, why));
        }
        self.account.lacks(&missing);
        let found = self.discover(&refused.demand).await?;
        self.account.trying(&wanted);
        self.obtain(&found, wanted, &refused.demand).await?;
        self.account.lacks_nothing();
        Ok(Verdict::Again)
    }

    /// Asks for what the application wants, or calls have lacked, and these
    /// tokens were not asked for.
    pub(super) async fn widen(self, held: &Held) -> Result<(), AuthError> {
        let wanted = self.settings.scopes.union(&self.account.lacking());
        if held.requested.contains_all(&wanted) {
            return Ok(());
        }
        let demand = Demand {
            scope: Some(wanted),
            proof: held.key.is_some(),
            ..Demand::default()
        };
        let refused = Refused {
            demand,
            token: Some(held.access_token.clone()),
            attempt: 0,
        };
        self.step_up(refused).await.map(drop)
    }
}

//! A server that asks the authorization server of the tests what its tokens
//! are good for.

use bowline::{
    server::auth::{AccessToken, TokenClaims, TokenVerifier, VerifyError},
    transport::BoxFuture,
};

use super::authority::Authority;

/// Looks tokens up where they were given.
pub(crate) struct Asking {
    pub(crate) guard: Authority,
    pub(crate) issuer: String,
    pub(crate) resource: String,
}

impl TokenVerifier for Asking {
    fn issuer(&self) -> &str {
        &self.issuer
    }

    fn verify<'a>(
        &'a self,
        token: AccessToken<'a>,
    ) -> BoxFuture<'a, Result<TokenClaims, VerifyError>> {
        Box::pin(async move {
            let scope = self.guard.scope_of(token.secret(), &self.resource);
            let scope = scope.ok_or(VerifyError::Invalid("nobody knows this token"))?;
            let grant = TokenClaims::new(&self.issuer, "ada").with_audience(&self.resource);
            Ok(grant.with_scopes(scope.split(' ').filter(|scope| !scope.is_empty())))
        })
    }
}

//! The client's user, who says yes to everything and has no browser.

use bowline::{
    auth::{AuthError, AuthorizationResponse, AuthorizationSession, UserAgent},
    transport::{BoxFuture, Http, reqwest::header::LOCATION},
};

/// Where the user would come back to, if anybody waited there.
const BACK: &str = "http://localhost:3000/callback";

/// A user who goes to the authorization server and tells where they were sent.
pub struct Willing;

impl UserAgent for Willing {
    fn prepare<'a>(
        &'a self,
        _last: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn AuthorizationSession>, AuthError>> {
        Box::pin(async { Ok(Box::new(Self) as Box<dyn AuthorizationSession>) })
    }
}

impl AuthorizationSession for Willing {
    fn redirect_uri(&self) -> &str {
        BACK
    }

    fn authorize<'a>(
        self: Box<Self>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<AuthorizationResponse, AuthError>>
    where
        Self: 'a,
    {
        Box::pin(async move {
            let failed = |why: String| AuthError::user(why);
            let client = Http::client_builder().map_err(|error| failed(error.to_string()))?;
            let client = client.build().map_err(|error| failed(error.to_string()))?;
            let answer = client.get(url).send().await;
            let answer = answer.map_err(|error| failed(error.to_string()))?;
            let location = answer.headers().get(LOCATION);
            let location = location.and_then(|location| location.to_str().ok());
            let location = location.ok_or_else(|| failed("they were sent nowhere".into()))?;
            Ok(AuthorizationResponse::parse(location))
        })
    }
}

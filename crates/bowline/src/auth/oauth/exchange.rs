//! Giving something for tokens.

use serde_json::json;

use super::{account::now, proof::ProofKey, work::Work};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes, Secret, fetch::FetchResponse, random},
    proto::auth::{
        AuthMethod, ClientAuth, Grant, OAuthError, Registered, ServerMetadata, TokenAnswer, Tokens,
        read_token_answer,
    },
};

/// For how many seconds a statement about ourselves is good.
const STATEMENT: u64 = 60;

/// Who gives something, to whom, for what.
pub(super) struct Give<'a> {
    pub(super) server: &'a ServerMetadata,
    pub(super) resource: &'a str,
    pub(super) registered: &'a Registered,
    pub(super) scopes: &'a Scopes,
    pub(super) key: Option<&'a ProofKey>,
}

impl Work {
    /// Gives a grant to the authorization server, for tokens.
    pub(super) async fn exchange(
        &self,
        give: &Give<'_>,
        grant: &Grant<'_>,
    ) -> Result<Tokens, AuthError> {
        let auth = self.client_auth(give.registered, give.server)?;
        let mut form = grant.form(Some(give.resource), give.scopes);
        form.extend(auth.form());
        let endpoint = give.server.token_endpoint()?;
        let answer = self.post_grant(endpoint, &form, &auth, give.key).await?;
        tokens_in(&answer).map_err(|error| unless_repeated(error, &form))
    }

    /// How we prove who we are. A key of ours comes before a secret.
    pub(super) fn client_auth(
        &self,
        registered: &Registered,
        server: &ServerMetadata,
    ) -> Result<ClientAuth, AuthError> {
        let client_id = registered.client_id.clone();
        let ours = self.settings.client.as_ref();
        let is_ours = ours.is_some_and(|client| client.id == client_id);
        if let Some(key) = self.settings.key.as_ref().filter(|_| is_ours) {
            let (from, id) = (now(), random::text()?);
            let statement = json!({
                "iss": client_id,
                "sub": client_id,
                "aud": server.issuer,
                "iat": from,
                "exp": from + STATEMENT,
                "jti": id,
            });
            return Ok(ClientAuth {
                client_id,
                method: AuthMethod::PrivateKeyJwt,
                secret: Some(Secret::new(key.sign("JWT", &statement)?)),
            });
        }
        let secret = registered.client_secret.clone();
        let method = AuthMethod::choose(registered.auth_method, secret.is_some(), server);
        Ok(ClientAuth {
            client_id,
            method,
            secret,
        })
    }

    /// Posts a form to a token endpoint, with a proof if there is a key. A
    /// server that wants a nonce in the proof names one, and is asked again.
    pub(super) async fn post_grant(
        &self,
        endpoint: &str,
        form: &[(&'static str, String)],
        auth: &ClientAuth,
        key: Option<&ProofKey>,
    ) -> Result<FetchResponse, AuthError> {
        let header = auth.header();
        let post = async || {
            let proof = match key {
                Some(key) => Some(self.proof_for_endpoint(key, endpoint)?),
                None => None,
            };
            let posted = self
                .fetch
                .post_form(endpoint, form, header.as_ref(), proof.as_deref());
            posted.await
        };
        let answer = post().await?;
        if key.is_none() || !self.saw_nonce(endpoint, &answer) {
            return Ok(answer);
        }
        match read_token_answer(answer.status, &answer.body) {
            TokenAnswer::Refused(error) if error.code() == "use_dpop_nonce" => {
                let answer = post().await?;
                self.saw_nonce(endpoint, &answer);
                Ok(answer)
            }
            _ => Ok(answer),
        }
    }
}

/// A server's own words, unless they repeat something that we gave it.
fn unless_repeated(error: AuthError, form: &[(&'static str, String)]) -> AuthError {
    const OPEN: [&str; 5] = [
        "client_id",
        "grant_type",
        "redirect_uri",
        "resource",
        "scope",
    ];
    let secrets = form.iter().filter(|(name, _)| !OPEN.contains(name));
    let repeats = |text: &str| {
        let mut secrets = secrets.clone();
        secrets.any(|(_, value)| !value.is_empty() && text.contains(value.as_str()))
    };
    match error.refusal() {
        Some(refusal) if repeats(refusal.code()) => {
            AuthError::new(AuthErrorKind::Refused, "the authorization server refused")
        }
        Some(refusal) if repeats(&error.to_string()) => {
            let refusal = OAuthError::new(refusal.code(), None);
            AuthError::refused("the authorization server", refusal)
        }
        _ => error,
    }
}

/// The tokens in an answer.
pub(super) fn tokens_in(answer: &FetchResponse) -> Result<Tokens, AuthError> {
    match read_token_answer(answer.status, &answer.body) {
        TokenAnswer::Granted(tokens) => Ok(*tokens),
        TokenAnswer::Refused(error) => Err(AuthError::refused("the authorization server", error)),
        TokenAnswer::Unreadable => {
            let why = format!("the token endpoint answered with HTTP {}", answer.status);
            Err(AuthError::new(AuthErrorKind::Unreachable, why))
        }
    }
}

//! Getting into servers that want to know who is asking.
//!
//! Tokens are kept in the person's state folder, and used and renewed without
//! a word. Only where that does not do, and a person is there, are they asked
//! to sign in: by `agent`.

mod agent;

use std::{path::PathBuf, sync::Arc};

use bowline::{
    auth::{AuthError, AuthErrorKind, OAuth},
    config::RemoteServer,
    transport::Http,
};

use self::agent::Agent;
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    folders,
    output::clean,
    target::Target,
};

/// The name by which authorization servers know this program.
const NAME: &str = "Bowline";

/// Gives a transport the credentials that are known, if any are.
pub(crate) fn authorized(http: Http, server: Option<&RemoteServer>) -> Result<Http, Failure> {
    if let Some(credentials) = server.and_then(|server| server.credentials.as_ref()) {
        let mut oauth = OAuth::new(NAME)
            .client_id(&credentials.client_id)
            .client_credentials();
        if let Some(secret) = &credentials.client_secret {
            oauth = oauth.client_secret(secret.as_str());
        }
        if let Some(scope) = &credentials.scope {
            oauth = oauth.scopes(scope.split_whitespace());
        }
        return Ok(http.authorizer(oauth));
    }
    // Nothing is made on disk for those who have never signed in anywhere.
    let kept = folder().is_some_and(|folder| folder.is_dir());
    match kept {
        true => Ok(http.authorizer(oauth()?)),
        false => Ok(http),
    }
}

/// The person's tokens, and nobody to ask for more.
pub(crate) fn oauth() -> Result<OAuth, Failure> {
    let oauth = OAuth::new(NAME);
    #[cfg(unix)]
    let oauth = {
        let folder = folder().ok_or_else(|| Failure::usage("there is no home folder"))?;
        let store = bowline::auth::FileStore::open(&folder)
            .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))?;
        oauth.store(store)
    };
    Ok(oauth)
}

/// The address of a server at which a person could sign in.
pub(crate) fn address(target: &Target) -> Result<&str, Failure> {
    target.address().ok_or_else(|| {
        let name = target.name();
        Failure::usage(format!(
            "{name} is not reached over HTTP, so that there is nothing to sign in to"
        ))
    })
}

/// Signs the person in, if there is one.
pub(crate) async fn sign_in(
    cx: &Context,
    target: &Target,
    scopes: &[String],
) -> Result<(), Failure> {
    let url = address(target)?;
    if cx.talk.terminal().is_none() {
        let why = "to sign in takes a terminal, and a person at it";
        return Err(Failure::new(FailureKind::Authorization, why)
            .hint("a program sends a token with --header 'Authorization: Bearer …'"));
    }
    let agent = Agent::new(Arc::clone(&cx.talk), cx.globals.no_browser);
    let oauth = oauth()?.user(agent);
    let oauth = oauth.scopes(scopes.iter().map(String::as_str));
    oauth.sign_in(url).await.map_err(|error| failure(&error))
}

/// Whether a person here could sign in to this server.
pub(crate) fn is_possible(cx: &Context, target: &Target) -> bool {
    target.address().is_some()
        && !target.has_credentials(&cx.globals)
        && cx.talk.terminal().is_some()
}

/// A failure to sign in.
pub(crate) fn failure(error: &AuthError) -> Failure {
    let kind = match error.kind() {
        AuthErrorKind::Unreachable => FailureKind::Unreachable,
        _ => FailureKind::Authorization,
    };
    let failure = Failure::new(kind, clean(&error.to_string()));
    match error.kind() {
        AuthErrorKind::User => failure.hint("where no browser can be opened, try --no-browser"),
        AuthErrorKind::NoClientId => {
            failure.hint("it takes no new clients; send a token with --header")
        }
        _ => failure,
    }
}

fn folder() -> Option<PathBuf> {
    folders::state().map(|folder| folder.join("tokens"))
}

//! Signing in to servers that require authorization.
//!
//! `accounts` keeps tokens in the user's state directory, where they are used
//! and renewed silently. Only if that is not enough, and the command is
//! interactive, `user_agent` asks the user to sign in.

mod accounts;
mod user_agent;

use bowline::{
    auth::{AuthError, AuthErrorKind, Scopes},
    config::RemoteServer,
    transport::Http,
};

pub(crate) use self::accounts::Accounts;
use crate::{
    args::Globals,
    context::Context,
    failure::{Failure, FailureKind},
    output::escape_control,
    target::Target,
};

/// The client name registered with authorization servers.
const CLIENT_NAME: &str = "Bowline";

/// Adds known credentials to a transport.
pub(crate) fn with_credentials(
    http: Http,
    server: Option<&RemoteServer>,
    globals: &Globals,
) -> Result<Http, Failure> {
    // The entry has its own credentials.
    if server.is_some_and(|server| server.credentials.is_some()) {
        return Ok(http);
    }
    match globals.accounts.oauth_if_used()? {
        Some(oauth) => Ok(http.authorizer(oauth.clone())),
        None => Ok(http),
    }
}

/// Returns the URL of a server that a user could sign in to.
pub(crate) fn require_url(target: &Target) -> Result<&str, Failure> {
    target.url().ok_or_else(|| {
        let name = target.name();
        Failure::usage(format!(
            "{name} is not an HTTP server; there is nothing to sign in to"
        ))
    })
}

/// Signs the user in, if the command is interactive. Asks for more if they are
/// signed in without these scopes, or without scopes that calls lacked.
pub(crate) async fn sign_in(
    cx: &Context,
    target: &Target,
    scopes: &[String],
) -> Result<(), Failure> {
    let url = require_url(target)?;
    if cx.responder.terminal().is_none() {
        let why = "signing in requires a terminal";
        return Err(Failure::new(FailureKind::Authorization, why)
            .hint("in scripts, send a token with --header 'Authorization: Bearer …'"));
    }
    let accounts = &cx.globals.accounts;
    let without_browser = cx.globals.no_browser;
    // Time spent signing in does not count.
    let _pause = cx.globals.clock.pause();
    let _attached = accounts.user().attach(&cx.responder, without_browser);
    let oauth = accounts.oauth()?;
    let signed_in = match scopes {
        [] => oauth.sign_in(url).await,
        scopes => {
            let words = scopes.iter().flat_map(|scope| scope.split_whitespace());
            oauth.clone().scopes(words).sign_in(url).await
        }
    };
    signed_in.map_err(|error| match error.kind() {
        AuthErrorKind::User if !without_browser => {
            auth_failure(&error).hint("if there is no browser on this machine, use --no-browser")
        }
        _ => auth_failure(&error),
    })
}

/// Returns whether a user could sign in to this server, here or elsewhere.
pub(crate) fn can_sign_in(cx: &Context, target: &Target) -> bool {
    target.url().is_some() && !target.has_credentials(&cx.globals)
}

/// Returns the scopes that calls to a server lacked.
pub(crate) fn missing_scopes(cx: &Context, target: &Target) -> Scopes {
    let oauth = cx.globals.accounts.oauth_if_used().ok().flatten();
    match (oauth, target.url()) {
        (Some(oauth), Some(url)) => oauth.missing_scopes(url),
        _ => Scopes::default(),
    }
}

/// Returns a hint for granting more scopes. Servers choose scope names, and
/// people paste hints into shells, so only plain names are repeated.
pub(crate) fn scope_hint(name: &str, scopes: &Scopes) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '_' | '/' | '-');
    let listed = scopes.to_string();
    match listed.split(' ').all(|scope| scope.chars().all(is_plain)) {
        true => format!("`bowline auth login {name} --scope '{listed}'` requests it"),
        false => "run the same command in a terminal to grant it".to_owned(),
    }
}

/// Converts a sign-in error.
fn auth_failure(error: &AuthError) -> Failure {
    let kind = match error.kind() {
        AuthErrorKind::Unreachable => FailureKind::Unreachable,
        _ => FailureKind::Authorization,
    };
    let failure = Failure::new(kind, escape_control(&error.to_string()));
    match error.kind() {
        AuthErrorKind::NoClientId => failure.hint(
            "the authorization server does not register new clients; send a token obtained \
             elsewhere with --header 'Authorization: Bearer …'",
        ),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_call_things_does_not_get_into_shells() {
        let hint = scope_hint("docs", &Scopes::parse("files:read https://a.example/x.y"));
        assert!(hint.contains("--scope 'files:read https://a.example/x.y'"));
        for scopes in ["x';reboot;'", "$(reboot)", "a `reboot`", "a&b", "*"] {
            let hint = scope_hint("docs", &Scopes::parse(scopes));
            assert!(!hint.contains("--scope"), "{hint}");
        }
    }
}

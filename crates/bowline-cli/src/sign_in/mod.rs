//! Getting into servers that want to know who is asking.
//!
//! Tokens are kept in the person's state folder, by `accounts`, and used and
//! renewed without a word. Only where that does not do, and a person is there,
//! are they asked to sign in: by `agent`.

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

/// The name by which authorization servers know this program.
const CLIENT_NAME: &str = "Bowline";

/// Gives a transport the credentials that are known, if any are.
pub(crate) fn with_credentials(
    http: Http,
    server: Option<&RemoteServer>,
    globals: &Globals,
) -> Result<Http, Failure> {
    // Those of its own come with the entry.
    if server.is_some_and(|server| server.credentials.is_some()) {
        return Ok(http);
    }
    match globals.accounts.oauth_if_used()? {
        Some(oauth) => Ok(http.authorizer(oauth.clone())),
        None => Ok(http),
    }
}

/// The address of a server at which a person could sign in.
pub(crate) fn require_url(target: &Target) -> Result<&str, Failure> {
    target.url().ok_or_else(|| {
        let name = target.name();
        Failure::usage(format!(
            "{name} is not reached over HTTP, so that there is nothing to sign in to"
        ))
    })
}

/// Signs the person in, if there is one. Asks for more if they are signed in
/// and these scopes, or those that calls lacked, are not among theirs.
pub(crate) async fn sign_in(
    cx: &Context,
    target: &Target,
    scopes: &[String],
) -> Result<(), Failure> {
    let url = require_url(target)?;
    if cx.responder.terminal().is_none() {
        let why = "to sign in takes a terminal, and a person at it";
        return Err(Failure::new(FailureKind::Authorization, why)
            .hint("a program sends a token with --header 'Authorization: Bearer …'"));
    }
    let accounts = &cx.globals.accounts;
    let without_browser = cx.globals.no_browser;
    // Signing in is the person's work.
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
        AuthErrorKind::User if !without_browser => auth_failure(&error)
            .hint("if your browser is on another machine, or there is none, use --no-browser"),
        _ => auth_failure(&error),
    })
}

/// Whether a person could sign in to this server, here or elsewhere.
pub(crate) fn can_sign_in(cx: &Context, target: &Target) -> bool {
    target.url().is_some() && !target.has_credentials(&cx.globals)
}

/// What calls to a server needed, and the person has not allowed so far.
pub(crate) fn missing_scopes(cx: &Context, target: &Target) -> Scopes {
    let oauth = cx.globals.accounts.oauth_if_used().ok().flatten();
    match (oauth, target.url()) {
        (Some(oauth), Some(url)) => oauth.missing_scopes(url),
        _ => Scopes::default(),
    }
}

/// What to type to allow more. Servers choose the names of scopes, and people
/// copy what they read into shells, so that only plain names are repeated.
pub(crate) fn scope_hint(name: &str, scopes: &Scopes) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '_' | '/' | '-');
    let listed = scopes.to_string();
    match listed.split(' ').all(|scope| scope.chars().all(is_plain)) {
        true => format!("`bowline auth login {name} --scope '{listed}'` asks you for it"),
        false => "you are asked for it if you do the same in a terminal".to_owned(),
    }
}

/// A failure to sign in.
fn auth_failure(error: &AuthError) -> Failure {
    let kind = match error.kind() {
        AuthErrorKind::Unreachable => FailureKind::Unreachable,
        _ => FailureKind::Authorization,
    };
    let failure = Failure::new(kind, escape_control(&error.to_string()));
    match error.kind() {
        AuthErrorKind::NoClientId => failure.hint(
            "it takes no new clients; a token of another origin can be sent with \
             --header 'Authorization: Bearer …'",
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

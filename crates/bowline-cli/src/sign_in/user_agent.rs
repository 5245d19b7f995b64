//! Directing the user at the terminal to the sign-in page.

use std::sync::{Arc, Mutex};

use bowline::{
    auth::{
        AuthError, AuthorizationResponse, AuthorizationSession, Loopback, Paste, UserAgent,
        open_browser,
    },
    transport::BoxFuture,
};

use crate::{interaction::Responder, locks, output::escape_control};

/// The interactive user. It is attached only while the user was asked to sign
/// in: calls have deadlines that people cannot keep.
#[derive(Clone, Default)]
pub(super) struct InteractiveUser(Arc<Mutex<Option<AttachedUser>>>);

/// A user who can be directed to a page.
#[derive(Clone)]
struct AttachedUser {
    responder: Arc<Responder>,
    without_browser: bool,
}

/// Detaches the user when dropped.
pub(super) struct AttachGuard(InteractiveUser);

impl InteractiveUser {
    /// Attaches the user of this responder until the guard is dropped. Without
    /// a browser, they copy URLs themselves.
    pub(super) fn attach(&self, responder: &Arc<Responder>, without_browser: bool) -> AttachGuard {
        let responder = Arc::clone(responder);
        self.set(Some(AttachedUser {
            responder,
            without_browser,
        }));
        AttachGuard(self.clone())
    }

    fn set(&self, user: Option<AttachedUser>) {
        *locks::lock(&self.0) = user;
    }

    fn attached(&self) -> Option<AttachedUser> {
        let user = locks::lock(&self.0);
        user.clone()
    }
}

impl Drop for AttachGuard {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

impl UserAgent for InteractiveUser {
    fn prepare<'a>(
        &'a self,
        last: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn AuthorizationSession>, AuthError>> {
        Box::pin(async move {
            let user = self
                .attached()
                .ok_or_else(|| AuthError::user("the server requires you to sign in"))?;
            let inner = match user.without_browser {
                true => paste(Arc::clone(&user.responder)).prepare(last).await?,
                false => {
                    let loopback = loopback(Arc::clone(&user.responder));
                    loopback.prepare(last).await?
                }
            };
            Ok(Box::new(AnnouncedSession { inner, user }) as Box<dyn AuthorizationSession>)
        })
    }
}

/// Opens the user's browser. A browser that cannot be opened is not fatal: the
/// URL was printed.
fn loopback(responder: Arc<Responder>) -> Loopback {
    Loopback::new().open_with(move |url| {
        let (url, responder) = (url.to_owned(), Arc::clone(&responder));
        tokio::spawn(async move {
            if let Err(why) = open_browser(&url).await
                && let Some(terminal) = responder.terminal()
            {
                terminal.print(format!("Cannot open it: {why}. Please open it yourself."));
                terminal.print("If your browser is on another machine, use --no-browser.");
            }
        });
        Ok(())
    })
}

/// Asks for the URL that the browser ends up at.
fn paste(responder: Arc<Responder>) -> Paste {
    Paste::new(move |_| {
        let responder = Arc::clone(&responder);
        async move {
            let terminal = responder.terminal()?;
            terminal.print(
                "The browser ends at a page that cannot be displayed. Copy the URL of \
                 that page.",
            );
            let pasted = terminal.ask("The URL, or the code in it: ").await?;
            (!pasted.trim().is_empty()).then_some(pasted)
        }
    })
}

/// An authorization session that is announced to the user.
struct AnnouncedSession {
    inner: Box<dyn AuthorizationSession>,
    user: AttachedUser,
}

impl AuthorizationSession for AnnouncedSession {
    fn redirect_uri(&self) -> &str {
        self.inner.redirect_uri()
    }

    fn authorize<'a>(
        self: Box<Self>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<AuthorizationResponse, AuthError>>
    where
        Self: 'a,
    {
        let AttachedUser {
            responder,
            without_browser,
        } = &self.user;
        if let Some(terminal) = responder.terminal() {
            let name = terminal.paint().bold(responder.name());
            terminal.print(match without_browser {
                true => format!("{name} requires you to sign in. Open this page in a browser:"),
                false => format!(
                    "{name} requires you to sign in. This page opens in your \
                     browser:"
                ),
            });
            terminal.print(format!("  {}", escape_control(url)));
            if let Some(scopes) = AuthorizationResponse::parse(url).param("scope") {
                terminal.print(format!("Requested scopes: {}", escape_control(scopes)));
            }
        }
        self.inner.authorize(url)
    }
}

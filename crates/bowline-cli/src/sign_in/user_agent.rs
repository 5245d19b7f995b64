//! Sending the person at the terminal to the page where they sign in.

use std::sync::{Arc, Mutex, PoisonError};

use bowline::{
    auth::{AuthError, AuthorizationResponse, AuthorizationSession, Loopback, Paste, UserAgent},
    transport::BoxFuture,
};

use crate::{
    interaction::{Responder, open_page},
    output::escape_control,
};

/// The seat of the person. It is empty but for the time that they were asked
/// to take: a call has a deadline, and none that people can keep.
#[derive(Clone, Default)]
pub(super) struct InteractiveUser(Arc<Mutex<Option<AttachedUser>>>);

/// Somebody who can be sent somewhere.
#[derive(Clone)]
struct AttachedUser {
    responder: Arc<Responder>,
    without_browser: bool,
}

/// The time for which somebody sits there.
pub(super) struct AttachGuard(InteractiveUser);

impl InteractiveUser {
    /// Gives the seat to the person at this desk, until what is returned is
    /// dropped. By hand, they carry addresses over themselves.
    pub(super) fn attach(&self, responder: &Arc<Responder>, without_browser: bool) -> AttachGuard {
        let responder = Arc::clone(responder);
        self.set(Some(AttachedUser {
            responder,
            without_browser,
        }));
        AttachGuard(self.clone())
    }

    fn set(&self, user: Option<AttachedUser>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = user;
    }

    fn attached(&self) -> Option<AttachedUser> {
        let user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
                .ok_or_else(|| AuthError::user("the server wants you to sign in"))?;
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

/// Opens the browser that the person has chosen. One that cannot be opened is
/// no reason to give up: the address was shown.
fn loopback(responder: Arc<Responder>) -> Loopback {
    Loopback::new().open_with(move |url| {
        let (url, responder) = (url.to_owned(), Arc::clone(&responder));
        tokio::spawn(async move {
            if let Err(why) = open_page(&url).await
                && let Some(terminal) = responder.terminal()
            {
                terminal.print(format!("{why}. Please open it yourself."));
                terminal.print("If your browser is on another machine, use --no-browser.");
            }
        });
        Ok(())
    })
}

/// Asks for the address that the browser ends up at.
fn paste(responder: Arc<Responder>) -> Paste {
    Paste::new(move |_| {
        let responder = Arc::clone(&responder);
        async move {
            let terminal = responder.terminal()?;
            terminal
                .print("It ends at a page that cannot be shown. Copy the address of that page.");
            let pasted = terminal.ask("The address, or the code in it: ").await?;
            (!pasted.trim().is_empty()).then_some(pasted)
        }
    })
}

/// A visit of which the person is told.
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
                true => format!("{name} wants you to sign in. Open this page in a browser:"),
                false => format!("{name} wants you to sign in. It opens in your browser:"),
            });
            terminal.print(format!("  {}", escape_control(url)));
            if let Some(scopes) = AuthorizationResponse::parse(url).param("scope") {
                terminal.print(format!("It asks for: {}", escape_control(scopes)));
            }
        }
        self.inner.authorize(url)
    }
}

//! Sending the person at the terminal to the page where they sign in.

use std::sync::{Arc, Mutex, PoisonError};

use bowline::{
    auth::{AuthError, Loopback, Paste, Redirect, UserAgent, Visit},
    transport::BoxFuture,
};

use crate::{
    output::clean,
    talk::{Desk, open_page},
};

/// The seat of the person. It is empty but for the time that they were asked
/// to take: a call has a deadline, and none that people can keep.
#[derive(Clone, Default)]
pub(super) struct Seat(Arc<Mutex<Option<Person>>>);

/// Somebody who can be sent somewhere.
#[derive(Clone)]
struct Person {
    desk: Arc<Desk>,
    by_hand: bool,
}

/// The time for which somebody sits there.
pub(super) struct Seated(Seat);

impl Seat {
    /// Gives the seat to the person at this desk, until what is returned is
    /// dropped. By hand, they carry addresses over themselves.
    pub(super) fn take(&self, desk: &Arc<Desk>, by_hand: bool) -> Seated {
        let desk = Arc::clone(desk);
        self.set(Some(Person { desk, by_hand }));
        Seated(self.clone())
    }

    fn set(&self, person: Option<Person>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = person;
    }

    fn person(&self) -> Option<Person> {
        let person = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        person.clone()
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

impl UserAgent for Seat {
    fn prepare<'a>(
        &'a self,
        last: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn Visit>, AuthError>> {
        Box::pin(async move {
            let person = self
                .person()
                .ok_or_else(|| AuthError::user("the server wants you to sign in"))?;
            let inner = match person.by_hand {
                true => paste(Arc::clone(&person.desk)).prepare(last).await?,
                false => {
                    let loopback = loopback(Arc::clone(&person.desk));
                    loopback.prepare(last).await?
                }
            };
            Ok(Box::new(Told { inner, person }) as Box<dyn Visit>)
        })
    }
}

/// Opens the browser that the person has chosen. One that cannot be opened is
/// no reason to give up: the address was shown.
fn loopback(desk: Arc<Desk>) -> Loopback {
    Loopback::new().open_with(move |url| {
        let (url, desk) = (url.to_owned(), Arc::clone(&desk));
        tokio::spawn(async move {
            if let Err(why) = open_page(&url).await
                && let Some(terminal) = desk.terminal()
            {
                terminal.show(format!("{why}. Please open it yourself."));
                terminal.show("If your browser is on another machine, use --no-browser.");
            }
        });
        Ok(())
    })
}

/// Asks for the address that the browser ends up at.
fn paste(desk: Arc<Desk>) -> Paste {
    Paste::new(move |_| {
        let desk = Arc::clone(&desk);
        async move {
            let terminal = desk.terminal()?;
            terminal.show("It ends at a page that cannot be shown. Copy the address of that page.");
            let pasted = terminal.ask("The address, or the code in it: ").await?;
            (!pasted.trim().is_empty()).then_some(pasted)
        }
    })
}

/// A visit of which the person is told.
struct Told {
    inner: Box<dyn Visit>,
    person: Person,
}

impl Visit for Told {
    fn redirect_uri(&self) -> &str {
        self.inner.redirect_uri()
    }

    fn go<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<Redirect, AuthError>>
    where
        Self: 'a,
    {
        let Person { desk, by_hand } = &self.person;
        if let Some(terminal) = desk.terminal() {
            let name = terminal.paint().strong(desk.name());
            terminal.show(match by_hand {
                true => format!("{name} wants you to sign in. Open this page in a browser:"),
                false => format!("{name} wants you to sign in. It opens in your browser:"),
            });
            terminal.show(format!("  {}", clean(url)));
            if let Some(scopes) = Redirect::parse(url).param("scope") {
                terminal.show(format!("It asks for: {}", clean(scopes)));
            }
        }
        self.inner.go(url)
    }
}

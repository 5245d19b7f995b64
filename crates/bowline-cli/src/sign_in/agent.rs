//! Sending the person at the terminal to the page where they sign in.

use std::sync::Arc;

use bowline::{
    auth::{AuthError, Loopback, Paste, Redirect, UserAgent, Visit},
    transport::BoxFuture,
};

use crate::{output::clean, talk::Desk};

/// Sends the person by their browser, or lets them carry the answer over.
pub(super) struct Agent {
    desk: Arc<Desk>,
    way: Box<dyn UserAgent>,
    by_hand: bool,
}

impl Agent {
    pub(super) fn new(desk: Arc<Desk>, by_hand: bool) -> Self {
        let way: Box<dyn UserAgent> = match by_hand {
            true => Box::new(paste(Arc::clone(&desk))),
            false => Box::new(Loopback::new()),
        };
        Self { desk, way, by_hand }
    }
}

/// Asks for the address that the browser ends up at.
fn paste(desk: Arc<Desk>) -> Paste {
    Paste::new(move |_| {
        let desk = Arc::clone(&desk);
        async move {
            let terminal = desk.terminal()?;
            terminal.show("The page that it ends at cannot be shown. Copy its address.");
            let pasted = terminal.ask("The address, or the code in it: ").await?;
            (!pasted.trim().is_empty()).then_some(pasted)
        }
    })
}

impl UserAgent for Agent {
    fn prepare<'a>(
        &'a self,
        last: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn Visit>, AuthError>> {
        Box::pin(async move {
            let inner = self.way.prepare(last).await?;
            let desk = Arc::clone(&self.desk);
            let by_hand = self.by_hand;
            Ok(Box::new(Told {
                inner,
                desk,
                by_hand,
            }) as Box<dyn Visit>)
        })
    }
}

/// A visit of which the person is told.
struct Told {
    inner: Box<dyn Visit>,
    desk: Arc<Desk>,
    by_hand: bool,
}

impl Visit for Told {
    fn redirect_uri(&self) -> &str {
        self.inner.redirect_uri()
    }

    fn go<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<Redirect, AuthError>>
    where
        Self: 'a,
    {
        if let Some(terminal) = self.desk.terminal() {
            let name = terminal.paint().strong(self.desk.name());
            terminal.show(match self.by_hand {
                true => format!("{name} wants you to sign in. Open this page in a browser:"),
                false => format!("{name} wants you to sign in. If no browser opens, visit:"),
            });
            terminal.show(format!("  {}", clean(url)));
        }
        self.inner.go(url)
    }
}

//! The user comes back to a port on this machine.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::{UserAgent, Visit, browser, state_in};
use crate::{
    auth::{AuthError, Redirect},
    proto::auth::constant_time_eq,
    transport::BoxFuture,
};

/// How long the user may take, unless the settings say.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long one who connects may take to say what they want.
const HEARING: Duration = Duration::from_secs(5);

/// How many are heard at the same time.
const MOST: usize = 32;

/// The wait after a port that cannot be listened to.
const BREATH: Duration = Duration::from_millis(20);

/// The longest request that is read.
const LONGEST: usize = 16 * 1024;

/// Where the user comes back to.
const PATH: &str = "/callback";

type Opener = dyn Fn(&str) -> io::Result<()> + Send + Sync;

/// Opens the user's browser, and waits for it on a port of this machine.
///
/// Nobody outside of this machine can reach the port, and whoever comes to it
/// without knowing the secret of this visit is turned away. It is open only
/// while a visit lasts.
#[derive(Clone)]
pub struct Loopback {
    port: u16,
    patience: Duration,
    open: Arc<Opener>,
}

impl Loopback {
    /// With any port, the browser of the system, and five minutes.
    #[must_use]
    pub fn new() -> Self {
        Self {
            port: 0,
            patience: PATIENCE,
            open: Arc::new(browser::open),
        }
    }

    /// Uses this port: for clients that were registered with one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Gives the user so much time.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Opens pages in another way. The function is given URLs of web pages
    /// only; it must not hand them to a shell.
    #[must_use]
    pub fn open_with(
        mut self,
        open: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.open = Arc::new(open);
        self
    }

    async fn bind(&self, last: Option<&str>) -> io::Result<TcpListener> {
        if let Some(port) = last.and_then(port_of).filter(|_| self.port == 0)
            && let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await
        {
            return Ok(listener);
        }
        TcpListener::bind(("127.0.0.1", self.port)).await
    }
}

impl Default for Loopback {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Loopback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loopback")
            .field("port", &self.port)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

impl UserAgent for Loopback {
    fn prepare<'a>(
        &'a self,
        last: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn Visit>, AuthError>> {
        Box::pin(async move {
            let bound = async {
                let listener = self.bind(last).await?;
                let port = listener.local_addr()?.port();
                Ok((listener, port))
            };
            let (listener, port) = bound.await.map_err(|error: io::Error| {
                AuthError::user(format!(
                    "there is no port for the user to come back to: {error}"
                ))
            })?;
            Ok(Box::new(Waiting {
                listener,
                redirect_uri: format!("http://127.0.0.1:{port}{PATH}"),
                settings: self.clone(),
            }) as Box<dyn Visit>)
        })
    }
}

/// A port that is open until the user comes back.
struct Waiting {
    listener: TcpListener,
    redirect_uri: String,
    settings: Loopback,
}

impl Visit for Waiting {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn go<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<Redirect, AuthError>>
    where
        Self: 'a,
    {
        Box::pin(async move {
            let state = state_in(url);
            (self.settings.open)(url)
                .map_err(|error| AuthError::user(format!("no browser could be opened: {error}")))?;
            let back = timeout(self.settings.patience, self.wait(state.as_deref()));
            match back.await {
                Ok(redirect) => Ok(redirect),
                Err(_) => Err(AuthError::user("the user did not come back in time")),
            }
        })
    }
}

impl Waiting {
    async fn wait(&self, state: Option<&str>) -> Redirect {
        let (tell, mut told) = tokio::sync::mpsc::channel(1);
        let mut visitors = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                Some(redirect) = told.recv() => {
                    // Let the page be written.
                    let _ = timeout(HEARING, async {
                        while visitors.join_next().await.is_some() {}
                    }).await;
                    return redirect;
                }
                accepted = self.listener.accept() => {
                    let Ok((stream, _)) = accepted else {
                        // Out of descriptors, perhaps, which takes a moment.
                        tokio::time::sleep(BREATH).await;
                        continue;
                    };
                    if visitors.len() >= MOST {
                        continue;
                    }
                    let (tell, state) = (tell.clone(), state.map(str::to_owned));
                    // Browsers connect ahead of time, and others out of
                    // curiosity; nobody holds up anybody.
                    visitors.spawn(async move {
                        let heard = timeout(HEARING, hear(stream, state.as_deref())).await;
                        if let Ok(Ok(Some(redirect))) = heard {
                            let _ = tell.send(redirect).await;
                        }
                    });
                }
            }
            while visitors.try_join_next().is_some() {}
        }
    }
}

/// Reads what a visitor wants, and answers. Gives what they brought, if it is
/// meant for this visit.
async fn hear(mut stream: TcpStream, state: Option<&str>) -> io::Result<Option<Redirect>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if head.len() > LONGEST || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&head);
    let target = head
        .strip_prefix("GET ")
        .and_then(|rest| rest.split(' ').next());
    let query = target
        .and_then(|target| target.strip_prefix(PATH))
        .and_then(|rest| rest.strip_prefix('?'));
    let redirect = query
        .map(Redirect::parse)
        .filter(|redirect| is_meant(redirect.param("state"), state));
    let page = match &redirect {
        Some(redirect) if redirect.param("error").is_some() => page(
            "200 OK",
            "You were not signed in. You can close this window.",
        ),
        Some(_) => page("200 OK", "You can close this window and go back."),
        None => page("404 Not Found", "There is nothing here."),
    };
    // What they brought counts, even if they do not stay for the page.
    let _ = stream.write_all(page.as_bytes()).await;
    let _ = stream.shutdown().await;
    Ok(redirect)
}

/// Whoever is on this machine may guess as often as they like, and is not told
/// how close they came.
fn is_meant(shown: Option<&str>, state: Option<&str>) -> bool {
    match (shown, state) {
        (Some(shown), Some(state)) => constant_time_eq(shown, state),
        (shown, state) => shown == state,
    }
}

/// A page without anything of the visitor's in it.
fn page(status: &str, text: &str) -> String {
    let body = format!("<!doctype html><meta charset=utf-8><title>{text}</title><p>{text}</p>\n");
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n\
         content-length: {}\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\n\
         content-security-policy: default-src 'none'\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn port_of(redirect_uri: &str) -> Option<u16> {
    let rest = redirect_uri.strip_prefix("http://127.0.0.1:")?;
    rest.strip_suffix(PATH)?.parse().ok()
}

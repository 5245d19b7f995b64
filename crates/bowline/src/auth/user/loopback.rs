//! A user agent that receives the redirect on a port of this machine.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::{AuthorizationSession, UserAgent, open_browser, state_param};
use crate::{
    auth::{AuthError, AuthorizationResponse},
    proto::auth::constant_time_eq,
    transport::BoxFuture,
};

/// Default time for the user to sign in.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

/// Timeout for a connection to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of concurrent connections.
const MAX_CONNECTIONS: usize = 32;

/// Delay after a failed `accept`.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(20);

/// Maximum size of a request.
const MAX_REQUEST: usize = 16 * 1024;

/// The path of the redirect URI.
const CALLBACK_PATH: &str = "/callback";

type Opener = dyn Fn(&str) -> io::Result<()> + Send + Sync;

/// Opens the user's browser, and waits for the redirect on a port of this
/// machine.
///
/// The port is not reachable from other machines, and requests without the
/// secret `state` of this sign-in are rejected. It is open only during a
/// sign-in.
#[derive(Clone)]
pub struct Loopback {
    port: u16,
    timeout: Duration,
    /// The application's function; otherwise [`open_browser`].
    open: Option<Arc<Opener>>,
}

impl Loopback {
    /// Creates a user agent with any port, the user's browser (see
    /// [`open_browser`]), and a timeout of five minutes.
    #[must_use]
    pub fn new() -> Self {
        Self {
            port: 0,
            timeout: DEFAULT_TIMEOUT,
            open: None,
        }
    }

    /// Uses this port, for clients that were registered with one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Sets how long the user may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Opens pages with this function. It receives only `http` and `https`
    /// URLs, and must not pass them to a shell.
    #[must_use]
    pub fn open_with(
        mut self,
        open: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.open = Some(Arc::new(open));
        self
    }

    async fn bind(&self, last_redirect_uri: Option<&str>) -> io::Result<TcpListener> {
        if let Some(port) = last_redirect_uri
            .and_then(parse_port)
            .filter(|_| self.port == 0)
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
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl UserAgent for Loopback {
    fn prepare<'a>(
        &'a self,
        last_redirect_uri: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn AuthorizationSession>, AuthError>> {
        Box::pin(async move {
            let binding = async {
                let listener = self.bind(last_redirect_uri).await?;
                let port = listener.local_addr()?.port();
                Ok((listener, port))
            };
            let (listener, port) = binding.await.map_err(|error: io::Error| {
                AuthError::user(format!(
                    "failed to open a port for the sign-in redirect: {error}"
                ))
            })?;
            Ok(Box::new(LoopbackSession {
                listener,
                redirect_uri: format!("http://127.0.0.1:{port}{CALLBACK_PATH}"),
                settings: self.clone(),
            }) as Box<dyn AuthorizationSession>)
        })
    }
}

/// A port that is open until the user returns.
struct LoopbackSession {
    listener: TcpListener,
    redirect_uri: String,
    settings: Loopback,
}

impl AuthorizationSession for LoopbackSession {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(
        self: Box<Self>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<AuthorizationResponse, AuthError>>
    where
        Self: 'a,
    {
        Box::pin(async move {
            let state = state_param(url);
            let response = async {
                // The user may be back before it is certain that the browser works.
                tokio::select! {
                    Err(error) = self.open(url) => {
                        Err(AuthError::user(format!("failed to open a browser: {error}")))
                    }
                    redirect = self.wait(state.as_deref()) => Ok(redirect),
                }
            };
            match timeout(self.settings.timeout, response).await {
                Ok(response) => response,
                Err(_) => Err(AuthError::user("timed out waiting for the user to sign in")),
            }
        })
    }
}

impl LoopbackSession {
    async fn open(&self, url: &str) -> io::Result<()> {
        match &self.settings.open {
            Some(open) => open(url),
            None => open_browser(url).await,
        }
    }

    async fn wait(&self, state: Option<&str>) -> AuthorizationResponse {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let mut connections = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                Some(redirect) = receiver.recv() => {
                    // Let the page be written.
                    let _ = timeout(REQUEST_TIMEOUT, async {
                        while connections.join_next().await.is_some() {}
                    }).await;
                    return redirect;
                }
                accepted = self.listener.accept() => {
                    let Ok((stream, _)) = accepted else {
                        // Perhaps out of file descriptors, which passes.
                        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                        continue;
                    };
                    if connections.len() >= MAX_CONNECTIONS {
                        continue;
                    }
                    let (sender, state) = (sender.clone(), state.map(str::to_owned));
                    // Browsers connect ahead of time, and other programs probe
                    // ports; no connection delays another.
                    connections.spawn(async move {
                        let handled = timeout(REQUEST_TIMEOUT, handle_connection(stream, state.as_deref())).await;
                        if let Ok(Ok(Some(redirect))) = handled {
                            let _ = sender.send(redirect).await;
                        }
                    });
                }
            }
            while connections.try_join_next().is_some() {}
        }
    }
}

/// Reads a request and responds. Returns the authorization response, if it
/// belongs to this sign-in.
async fn handle_connection(
    mut stream: TcpStream,
    state: Option<&str>,
) -> io::Result<Option<AuthorizationResponse>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if head.len() > MAX_REQUEST || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&head);
    let target = head
        .strip_prefix("GET ")
        .and_then(|rest| rest.split(' ').next());
    let query = target
        .and_then(|target| target.strip_prefix(CALLBACK_PATH))
        .and_then(|rest| rest.strip_prefix('?'));
    let redirect = query
        .map(AuthorizationResponse::parse)
        .filter(|redirect| state_matches(redirect.param("state"), state));
    let page = match &redirect {
        Some(redirect) if redirect.param("error").is_some() => page(
            "200 OK",
            "You were not signed in. You can close this window.",
        ),
        Some(_) => page("200 OK", "You can close this window and go back."),
        None => page("404 Not Found", "There is nothing here."),
    };
    // The response counts even if the browser does not wait for the page.
    let _ = stream.write_all(page.as_bytes()).await;
    let _ = stream.shutdown().await;
    Ok(redirect)
}

/// Compares in constant time: programs on this machine may guess any number of
/// times.
fn state_matches(received: Option<&str>, state: Option<&str>) -> bool {
    match (received, state) {
        (Some(received), Some(state)) => constant_time_eq(received, state),
        (received, state) => received == state,
    }
}

/// Renders a page that contains nothing from the request.
fn page(status: &str, text: &str) -> String {
    let body = format!("<!doctype html><meta charset=utf-8><title>{text}</title><p>{text}</p>\n");
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n\
         content-length: {}\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\n\
         content-security-policy: default-src 'none'\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn parse_port(redirect_uri: &str) -> Option<u16> {
    let rest = redirect_uri.strip_prefix("http://127.0.0.1:")?;
    rest.strip_suffix(CALLBACK_PATH)?.parse().ok()
}

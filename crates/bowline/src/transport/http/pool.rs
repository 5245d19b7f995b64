//! A pool of direct connections to one server.
//!
//! A connection is driven by the exchange that uses it, and by nothing while it
//! is idle: an exchange needs neither a second task nor messages between two
//! tasks. An aborted exchange closes its connection.

use std::{
    convert::Infallible,
    error::Error,
    future::poll_fn,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, Weak},
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::{
    Request, Response, Uri,
    body::{Body, Frame, Incoming, SizeHint},
    client::conn::{
        TrySendError,
        http1::{self, Connection, SendRequest},
    },
};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use tokio::{
    net::TcpStream,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tower_service::Service as _;

use super::{
    error_text::root_cause_text,
    http_client::{CONNECT_TIMEOUT, IDLE_TIMEOUT},
};
use crate::{
    sync,
    transport::{ConnectionErrorKind, SendError},
};

/// The connections to one server.
pub(super) struct Pool {
    /// The server: scheme, host and port.
    origin: Uri,
    connector: HttpsConnector<HttpConnector>,
    idle: Mutex<IdleConnections>,
}

/// Idle connections, the most recently used last.
#[derive(Default)]
struct IdleConnections {
    connections: Vec<(Instant, Box<PooledConnection>)>,
    /// Closes connections that were idle for too long.
    reaper: Option<JoinHandle<()>>,
}

impl Pool {
    pub(super) fn new(origin: Uri, connector: HttpsConnector<HttpConnector>) -> Self {
        Self {
            origin,
            connector,
            idle: Mutex::default(),
        }
    }

    /// Sends a request whose target is a path and which has a `Host` header.
    /// Uses an idle connection or opens one.
    ///
    /// The request is passed to the connection before the future is first
    /// polled, so the future does not hold it and stays small: there is one for
    /// every call.
    pub(super) fn send(
        self: &Arc<Self>,
        request: Request<FullBody>,
    ) -> impl Future<Output = Result<Response<ResponseBody>, SendError>> + use<> {
        let sent = match self.checkout() {
            Some(pooled) => Ok(self.exchange(pooled, request)),
            None => Err(Box::new(request)),
        };
        let pool = Arc::clone(self);
        async move {
            let unsent = match sent {
                Ok(exchange) => match exchange.await {
                    Ok(response) => return Ok(response),
                    Err(error) => recover_unsent(error)?,
                },
                Err(request) => request,
            };
            Box::pin(pool.send_on_other(unsent)).await
        }
    }

    /// Sends a request on another idle connection, or on a new one.
    async fn send_on_other(
        self: &Arc<Self>,
        mut request: Box<Request<FullBody>>,
    ) -> Result<Response<ResponseBody>, SendError> {
        while let Some(pooled) = self.checkout() {
            match self.exchange(pooled, *request).await {
                Ok(response) => return Ok(response),
                Err(error) => request = recover_unsent(error)?,
            }
        }
        let undelivered =
            |reason| SendError::Failed(ConnectionErrorKind::Unreachable(reason).into());
        let pooled = self.connect().await;
        let pooled = pooled.map_err(|error| undelivered(root_cause_text(&*error)))?;
        let sent = self.exchange(pooled, *request).await;
        sent.map_err(|error| match error.message() {
            Some(_) => undelivered(root_cause_text(error.error())),
            None => no_response(error.error()),
        })
    }

    fn exchange(
        self: &Arc<Self>,
        mut pooled: Box<PooledConnection>,
        request: Request<FullBody>,
    ) -> impl Future<Output = Result<Response<ResponseBody>, TrySendError<Request<FullBody>>>> + use<>
    {
        let mut response_future = Box::pin(pooled.sender.try_send_request(request));
        let pool = Arc::clone(self);
        async move {
            let response = poll_fn(|cx| {
                poll_connection(&mut pooled.connection, cx);
                response_future.as_mut().poll(cx)
            });
            let response = response.await?;
            let is_done = response.body().is_end_stream() && pooled.is_idle();
            let pooled = match is_done {
                true => {
                    pool.checkin(pooled);
                    None
                }
                false => Some(pooled),
            };
            Ok(response.map(|body| ResponseBody { body, pooled, pool }))
        }
    }

    async fn connect(&self) -> Result<Box<PooledConnection>, Box<dyn Error + Send + Sync>> {
        let mut connector = self.connector.clone();
        let connecting = async {
            poll_fn(|cx| connector.poll_ready(cx)).await?;
            let io = connector.call(self.origin.clone()).await?;
            let (sender, connection) = http1::handshake(io).await?;
            Ok(Box::new(PooledConnection {
                sender,
                connection: Some(connection),
            }))
        };
        let connected = timeout(CONNECT_TIMEOUT, connecting).await;
        connected.unwrap_or_else(|_| {
            let reason = "timed out after 10s while connecting";
            Err(io::Error::new(io::ErrorKind::TimedOut, reason).into())
        })
    }

    /// Takes the most recently used connection, if it is fresh enough.
    fn checkout(&self) -> Option<Box<PooledConnection>> {
        let mut idle = self.idle();
        let (since, pooled) = idle.connections.pop()?;
        if since.elapsed() < IDLE_TIMEOUT {
            return Some(pooled);
        }
        // The others are older still.
        idle.connections.clear();
        None
    }

    fn checkin(self: &Arc<Self>, pooled: Box<PooledConnection>) {
        let mut idle = self.idle();
        idle.connections.push((Instant::now(), pooled));
        if idle.reaper.as_ref().is_none_or(JoinHandle::is_finished) {
            let pool = Arc::downgrade(self);
            idle.reaper = Some(tokio::spawn(reap(pool)));
        }
    }

    fn idle(&self) -> MutexGuard<'_, IdleConnections> {
        // The data is consistent after every statement.
        sync::lock(&self.idle)
    }
}

/// Closes connections that were idle for too long, until none is left.
async fn reap(pool: Weak<Pool>) {
    loop {
        sleep(IDLE_TIMEOUT).await;
        let Some(pool) = pool.upgrade() else {
            return;
        };
        let mut idle = pool.idle();
        let stale = idle
            .connections
            .partition_point(|(since, _)| since.elapsed() >= IDLE_TIMEOUT);
        idle.connections.drain(..stale);
        if idle.connections.is_empty() {
            idle.reaper = None;
            return;
        }
    }
}

/// One connection, with one exchange at a time.
struct PooledConnection {
    sender: SendRequest<FullBody>,
    /// `None` once it is closed.
    connection: Option<Connection<MaybeHttpsStream<TokioIo<TcpStream>>, FullBody>>,
}

impl PooledConnection {
    /// Returns whether another request could be sent.
    fn is_idle(&self) -> bool {
        self.connection.is_some() && self.sender.is_ready()
    }
}

/// Drives the connection in both directions.
fn poll_connection<C: Future + Unpin>(connection: &mut Option<C>, cx: &mut Context<'_>) {
    // An error is reported to the task that waits for the response or body. A
    // finished connection returns unsent requests when it is dropped.
    if let Some(open) = connection
        && Pin::new(open).poll(cx).is_ready()
    {
        *connection = None;
    }
}

/// A streaming response body. Read to its end, it returns its connection to the
/// pool.
pub(super) struct ResponseBody {
    body: Incoming,
    pooled: Option<Box<PooledConnection>>,
    pool: Arc<Pool>,
}

impl ResponseBody {
    /// Returns the length of the body, if the server announced it.
    pub(super) fn content_length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        loop {
            match poll_fn(|cx| self.poll_frame(cx)).await {
                Some(frame) => {
                    // Trailers are ignored.
                    if let Ok(data) = frame?.into_data() {
                        return Ok(Some(data));
                    }
                }
                None => return Ok(None),
            }
        }
    }

    fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(pooled) = &mut self.pooled else {
            return Poll::Ready(None);
        };
        poll_connection(&mut pooled.connection, cx);
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        let is_done = matches!(frame, Poll::Ready(None)) || self.body.is_end_stream();
        if is_done && let Some(mut pooled) = self.pooled.take() {
            if !pooled.is_idle() {
                // The connection has not noticed the end yet.
                poll_connection(&mut pooled.connection, cx);
            }
            if pooled.is_idle() {
                self.pool.checkin(pooled);
            }
        }
        frame
    }
}

/// The body of a request, in one piece.
pub(super) struct FullBody(Bytes);

impl From<Bytes> for FullBody {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl Body for FullBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.0);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

/// Returns the request if none of it was sent because its connection was closed
/// in the meantime.
fn recover_unsent(
    mut error: TrySendError<Request<FullBody>>,
) -> Result<Box<Request<FullBody>>, SendError> {
    match error.take_message() {
        Some(unsent) => Ok(Box::new(unsent)),
        None => Err(no_response(error.error())),
    }
}

fn no_response(error: &hyper::Error) -> SendError {
    SendError::NoResponse(ConnectionErrorKind::Io(root_cause_text(error)).into())
}

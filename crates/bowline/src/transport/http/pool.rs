//! Connections straight to one server, kept and used again.
//!
//! A connection is driven by the exchange that uses it, and by nobody while it
//! is idle: an exchange needs no second task, and no word between two of them.
//! An exchange that is given up takes its connection along.

use std::{
    convert::Infallible,
    error::Error,
    future::poll_fn,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
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
    secure::{CONNECT, IDLE},
    words::innermost,
};
use crate::transport::{CauseKind, Refusal};

/// The connections to one server.
pub(super) struct Pool {
    /// The server: scheme, host and port.
    origin: Uri,
    connector: HttpsConnector<HttpConnector>,
    idle: Mutex<Idle>,
}

/// Connections that nobody uses now, the latest last.
#[derive(Default)]
struct Idle {
    lines: Vec<(Instant, Box<Line>)>,
    /// Closes those that nobody comes back for.
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

    /// Sends a request, whose target is a path and which names its host. Uses
    /// a connection that is idle, or opens one.
    ///
    /// The request is on its way before the future is first polled, so that the
    /// future has no room for it: there is one of these for every call.
    pub(super) fn send(
        self: &Arc<Self>,
        request: Request<Whole>,
    ) -> impl Future<Output = Result<Response<Pieces>, Refusal>> + use<> {
        let sent = match self.take() {
            Some(line) => Ok(self.exchange(line, request)),
            None => Err(Box::new(request)),
        };
        let pool = Arc::clone(self);
        async move {
            let unsent = match sent {
                Ok(exchange) => match exchange.await {
                    Ok(response) => return Ok(response),
                    Err(error) => still_unsent(error)?,
                },
                Err(request) => request,
            };
            Box::pin(pool.send_otherwise(unsent)).await
        }
    }

    /// Sends a request by another connection that is idle, or a new one.
    async fn send_otherwise(
        self: &Arc<Self>,
        mut request: Box<Request<Whole>>,
    ) -> Result<Response<Pieces>, Refusal> {
        while let Some(line) = self.take() {
            match self.exchange(line, *request).await {
                Ok(response) => return Ok(response),
                Err(error) => request = still_unsent(error)?,
            }
        }
        let undelivered = |why| Refusal::Failed(CauseKind::Unreachable(why).into());
        let line = self.connect().await;
        let line = line.map_err(|error| undelivered(innermost(&*error)))?;
        let sent = self.exchange(line, *request).await;
        sent.map_err(|error| match error.message() {
            Some(_) => undelivered(innermost(error.error())),
            None => unanswered(error.error()),
        })
    }

    fn exchange(
        self: &Arc<Self>,
        mut line: Box<Line>,
        request: Request<Whole>,
    ) -> impl Future<Output = Result<Response<Pieces>, TrySendError<Request<Whole>>>> + use<> {
        let mut answer = Box::pin(line.sender.try_send_request(request));
        let pool = Arc::clone(self);
        async move {
            let response = poll_fn(|cx| {
                drive(&mut line.connection, cx);
                answer.as_mut().poll(cx)
            });
            let response = response.await?;
            let is_over = response.body().is_end_stream() && line.is_idle();
            let line = match is_over {
                true => {
                    pool.put(line);
                    None
                }
                false => Some(line),
            };
            Ok(response.map(|body| Pieces { body, line, pool }))
        }
    }

    async fn connect(&self) -> Result<Box<Line>, Box<dyn Error + Send + Sync>> {
        let mut connector = self.connector.clone();
        let connecting = async {
            poll_fn(|cx| connector.poll_ready(cx)).await?;
            let io = connector.call(self.origin.clone()).await?;
            let (sender, connection) = http1::handshake(io).await?;
            Ok(Box::new(Line {
                sender,
                connection: Some(connection),
            }))
        };
        let connected = timeout(CONNECT, connecting).await;
        connected.unwrap_or_else(|_| {
            let why = "no connection came up in time";
            Err(io::Error::new(io::ErrorKind::TimedOut, why).into())
        })
    }

    /// The connection that was used last, if it is fresh enough.
    fn take(&self) -> Option<Box<Line>> {
        let mut idle = self.idle();
        let (since, line) = idle.lines.pop()?;
        if since.elapsed() < IDLE {
            return Some(line);
        }
        // The others are older still.
        idle.lines.clear();
        None
    }

    fn put(self: &Arc<Self>, line: Box<Line>) {
        let mut idle = self.idle();
        idle.lines.push((Instant::now(), line));
        if idle.reaper.as_ref().is_none_or(JoinHandle::is_finished) {
            let pool = Arc::downgrade(self);
            idle.reaper = Some(tokio::spawn(reap(pool)));
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        // What is kept here is whole after every statement.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes connections that were idle for too long, until there are none.
async fn reap(pool: Weak<Pool>) {
    loop {
        sleep(IDLE).await;
        let Some(pool) = pool.upgrade() else {
            return;
        };
        let mut idle = pool.idle();
        let stale = idle
            .lines
            .partition_point(|(since, _)| since.elapsed() >= IDLE);
        idle.lines.drain(..stale);
        if idle.lines.is_empty() {
            idle.reaper = None;
            return;
        }
    }
}

/// One connection, with one exchange at a time.
struct Line {
    sender: SendRequest<Whole>,
    /// None once it is closed.
    connection: Option<Connection<MaybeHttpsStream<TokioIo<TcpStream>>, Whole>>,
}

impl Line {
    /// Whether another request could be sent.
    fn is_idle(&self) -> bool {
        self.connection.is_some() && self.sender.is_ready()
    }
}

/// Moves bytes in both directions.
fn drive<C: Future + Unpin>(connection: &mut Option<C>, cx: &mut Context<'_>) {
    // What went wrong is told to the one who waits for an answer or a body. A
    // connection that is over gives back what it did not send when it is dropped.
    if let Some(open) = connection
        && Pin::new(open).poll(cx).is_ready()
    {
        *connection = None;
    }
}

/// The body of an answer, as it comes. Read to its end, it gives its connection
/// back.
pub(super) struct Pieces {
    body: Incoming,
    line: Option<Box<Line>>,
    pool: Arc<Pool>,
}

impl Pieces {
    /// How long the body is to be, if the server said so.
    pub(super) fn announced(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        loop {
            match poll_fn(|cx| self.poll_frame(cx)).await {
                Some(frame) => {
                    // Trailers say nothing to us.
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
        let Some(line) = &mut self.line else {
            return Poll::Ready(None);
        };
        drive(&mut line.connection, cx);
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        let is_over = matches!(frame, Poll::Ready(None)) || self.body.is_end_stream();
        if is_over && let Some(mut line) = self.line.take() {
            if !line.is_idle() {
                // It has not noticed the end itself yet.
                drive(&mut line.connection, cx);
            }
            if line.is_idle() {
                self.pool.put(line);
            }
        }
        frame
    }
}

/// The body of a request, in one piece.
pub(super) struct Whole(Bytes);

impl From<Bytes> for Whole {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl Body for Whole {
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

/// The request, where it is known that nothing of it was sent: its connection
/// was closed in the meantime.
fn still_unsent(mut error: TrySendError<Request<Whole>>) -> Result<Box<Request<Whole>>, Refusal> {
    match error.take_message() {
        Some(unsent) => Ok(Box::new(unsent)),
        None => Err(unanswered(error.error())),
    }
}

fn unanswered(error: &hyper::Error) -> Refusal {
    Refusal::Unanswered(CauseKind::Io(innermost(error)).into())
}

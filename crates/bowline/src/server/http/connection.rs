//! One connection, served until it is over.

use std::{
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use http::{Method, Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep},
};

use super::{
    HttpService, Inner,
    activity::ConnectionActivity,
    framing_checked_stream::FramingCheckedStream,
    ingress::{MIN_HEAD_BYTES, handle_request},
    peer::PeerAddr,
    quotas::QuotaPermit,
    write_timeout::WriteTimeout,
};

/// A connection that was taken, in its place among others.
pub(super) struct AcceptedConnection {
    pub(super) stream: TcpStream,
    pub(super) address: SocketAddr,
    /// As one of those of its address.
    pub(super) quota: QuotaPermit,
    pub(super) permit: OwnedSemaphorePermit,
}

/// Serves a connection, until its client closes it, is too slow, or the server
/// stops.
///
/// This is no `async fn`, which would keep room for what it was given.
pub(super) fn serve(service: HttpService, socket: AcceptedConnection) -> impl Future<Output = ()> {
    let AcceptedConnection {
        stream,
        address,
        quota: quota_permit,
        permit,
    } = socket;
    // Small answers must not wait for more to come.
    let _ = stream.set_nodelay(true);
    let activity = ConnectionActivity::new(quota_permit, address.ip());
    async move {
        serve_stream(&service.inner, stream, &activity).await;
        drop(permit);
    }
}

async fn serve_stream(inner: &Arc<Inner>, stream: TcpStream, activity: &Arc<ConnectionActivity>) {
    let options = &inner.options;
    let handler = service_fn(|mut request: Request<Incoming>| {
        // What is posted finds the account of its connection without that.
        if options.peer_source.is_custom() || request.method() != Method::POST {
            request
                .extensions_mut()
                .insert(PeerAddr(activity.address()));
        }
        handle_request(inner, request, Some(activity.begin_request()))
    });
    let stream = WriteTimeout::new(stream, options.write_timeout, options.min_bytes_per_second);
    let stream = FramingCheckedStream::new(stream.with_activity(Arc::clone(activity)));
    // Heads are timed by us: the library would set a timer for each.
    let connection = http1::Builder::new()
        .max_buf_size(options.max_head_bytes.max(MIN_HEAD_BYTES))
        .serve_connection(TokioIo::new(stream), handler);
    let mut connection = pin!(connection);
    let mut connection_timer = ConnectionTimer {
        inner,
        activity,
        shutdown: Some(pin!(inner.stopping().wait_begun())),
        timer: pin!(tokio::time::sleep(options.header_timeout)),
        waker: None,
    };
    poll_fn(|cx| {
        loop {
            // A connection that breaks is its client's business.
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            match connection_timer.poll(cx) {
                Poll::Ready(ConnectionAction::Stop) => connection.as_mut().graceful_shutdown(),
                Poll::Ready(ConnectionAction::Close) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await;
}

/// What is to be done to a connection.
enum ConnectionAction {
    /// It ends after what is under way.
    Stop,
    Close,
}

/// Watches the time of a connection, and for the end of the server.
struct ConnectionTimer<'a, F> {
    inner: &'a Inner,
    activity: &'a ConnectionActivity,
    /// The end of the server, until it was heard of.
    shutdown: Option<Pin<&'a mut F>>,
    timer: Pin<&'a mut Sleep>,
    /// Who is woken by both.
    waker: Option<Waker>,
}

impl<F: Future<Output = ()>> ConnectionTimer<'_, F> {
    /// Most of the times that a connection is looked after, it is not because
    /// of either. Both are polled only where something may have come of it.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ConnectionAction> {
        let waker = self.waker.as_ref();
        let is_same_waker = waker.is_some_and(|waker| waker.will_wake(cx.waker()));
        if !is_same_waker {
            self.waker = Some(cx.waker().clone());
        }
        if (!is_same_waker || self.inner.stopping().has_begun())
            && let Some(stopped) = &mut self.shutdown
            && stopped.as_mut().poll(cx).is_ready()
        {
            self.shutdown = None;
            return Poll::Ready(ConnectionAction::Stop);
        }
        if (!is_same_waker || self.timer.is_elapsed()) && self.head_timed_out(cx) {
            return Poll::Ready(ConnectionAction::Close);
        }
        Poll::Pending
    }

    /// Whether the client has taken too long to send the head of a request.
    fn head_timed_out(&mut self, cx: &mut Context<'_>) -> bool {
        while self.timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let idle_since = self.activity.idle_since().unwrap_or(now);
            let deadline = idle_since + self.inner.options.header_timeout;
            if deadline <= now {
                return true;
            }
            self.timer.as_mut().reset(deadline);
        }
        false
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::http::activity::RequestGuard;

    /// The size of the future that a function makes.
    fn size<A, F: Future>(_: impl FnOnce(A) -> F) -> usize {
        size_of::<F>()
    }

    /// Every connection has both, whether it does anything or not. It is easy
    /// to double them: who awaits a future that was passed in keeps room for it
    /// where it was and where it is awaited.
    #[test]
    fn a_connection_takes_little_room() {
        let connection = size(|(service, socket)| serve(service, socket));
        assert!(connection <= 1280, "{connection}");
        type HandlerArgs = (&'static Arc<Inner>, Request<Incoming>, Option<RequestGuard>);
        let request =
            size(|(inner, request, guard): HandlerArgs| handle_request(inner, request, guard));
        assert!(request <= 896, "{request}");
    }
}

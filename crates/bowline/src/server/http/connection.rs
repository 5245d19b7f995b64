//! One HTTP connection.

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
    handle_request::{MIN_HEAD_BYTES, handle_request},
    peer::PeerAddr,
    quotas::QuotaPermit,
    write_timeout::WriteTimeout,
};

/// An accepted connection.
pub(super) struct AcceptedConnection {
    pub(super) stream: TcpStream,
    pub(super) address: SocketAddr,
    /// Its permit from the quota of its address.
    pub(super) quota: QuotaPermit,
    pub(super) permit: OwnedSemaphorePermit,
}

/// Serves a connection until the client closes it or is too slow, or the server
/// stops.
///
/// Not an `async fn`: its future would also keep space for the arguments.
pub(super) fn serve(service: HttpService, socket: AcceptedConnection) -> impl Future<Output = ()> {
    let AcceptedConnection {
        stream,
        address,
        quota: quota_permit,
        permit,
    } = socket;
    // Small responses must not be delayed.
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
        // A POST takes the quota from its connection and does not need this.
        if options.peer_source.is_custom() || request.method() != Method::POST {
            request
                .extensions_mut()
                .insert(PeerAddr(activity.address()));
        }
        handle_request(inner, request, Some(activity.begin_request()))
    });
    let stream = WriteTimeout::new(stream, options.write_timeout, options.min_bytes_per_second);
    let stream = FramingCheckedStream::new(stream.with_activity(Arc::clone(activity)));
    // We time the request head ourselves: hyper would set a timer for each.
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
            // A broken connection is not our error.
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

/// An action on a connection.
enum ConnectionAction {
    /// Ends the connection after the current request.
    Stop,
    Close,
}

/// Watches the timeouts of a connection and the shutdown signal.
struct ConnectionTimer<'a, F> {
    inner: &'a Inner,
    activity: &'a ConnectionActivity,
    /// The shutdown signal, until it was received.
    shutdown: Option<Pin<&'a mut F>>,
    timer: Pin<&'a mut Sleep>,
    /// The waker registered with both.
    waker: Option<Waker>,
}

impl<F: Future<Output = ()>> ConnectionTimer<'_, F> {
    /// Most wakeups of a connection concern neither. Both are polled only if
    /// they may have fired.
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

    /// Returns whether the client took too long to send a request head.
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

    /// Returns the size of the future that a function returns.
    fn size<A, F: Future>(_: impl FnOnce(A) -> F) -> usize {
        size_of::<F>()
    }

    /// Every connection has both, even if idle. They are easily doubled: an
    /// async function that awaits a future passed as an argument stores it
    /// twice.
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

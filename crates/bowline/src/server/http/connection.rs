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
    accounts::Counted,
    entry::{LEAST_HEAD, enter},
    framed::Framed,
    peer::PeerAddr,
    pulse::Pulse,
    write_limit::WriteLimit,
};

/// A connection that was taken, in its place among others.
pub(super) struct Socket {
    pub(super) stream: TcpStream,
    pub(super) address: SocketAddr,
    /// As one of those of its address.
    pub(super) counted: Counted,
    pub(super) place: OwnedSemaphorePermit,
}

/// Serves a connection, until its client closes it, is too slow, or the server
/// stops.
///
/// This is no `async fn`, which would keep room for what it was given.
pub(super) fn serve(service: HttpService, socket: Socket) -> impl Future<Output = ()> {
    let Socket {
        stream,
        address,
        counted,
        place,
    } = socket;
    // Small answers must not wait for more to come.
    let _ = stream.set_nodelay(true);
    let pulse = Pulse::new(counted, address.ip());
    async move {
        serve_stream(&service.inner, stream, &pulse).await;
        drop(place);
    }
}

async fn serve_stream(inner: &Arc<Inner>, stream: TcpStream, pulse: &Arc<Pulse>) {
    let options = &inner.options;
    let answer = service_fn(|mut request: Request<Incoming>| {
        // What is posted finds the account of its connection without that.
        if options.peer.reads_requests() || request.method() != Method::POST {
            request.extensions_mut().insert(PeerAddr(pulse.address()));
        }
        enter(inner, request, Some(pulse.answering()))
    });
    let stream = WriteLimit::new(stream, options.write_time, options.min_rate);
    let stream = Framed::new(stream.noted_in(Arc::clone(pulse)));
    // Heads are timed by us: the library would set a timer for each.
    let connection = http1::Builder::new()
        .max_buf_size(options.max_head.max(LEAST_HEAD))
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    let mut watch = Watch {
        inner,
        pulse,
        stopped: Some(pin!(inner.stopping().begun())),
        timer: pin!(tokio::time::sleep(options.header_time)),
        waker: None,
    };
    poll_fn(|cx| {
        loop {
            // A connection that breaks is its client's business.
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            match watch.poll(cx) {
                Poll::Ready(Order::Stop) => connection.as_mut().graceful_shutdown(),
                Poll::Ready(Order::Close) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await;
}

/// What is to be done to a connection.
enum Order {
    /// It ends after what is under way.
    Stop,
    Close,
}

/// Watches the time of a connection, and for the end of the server.
struct Watch<'a, F> {
    inner: &'a Inner,
    pulse: &'a Pulse,
    /// The end of the server, until it was heard of.
    stopped: Option<Pin<&'a mut F>>,
    timer: Pin<&'a mut Sleep>,
    /// Who is woken by both.
    waker: Option<Waker>,
}

impl<F: Future<Output = ()>> Watch<'_, F> {
    /// Most of the times that a connection is looked after, it is not because
    /// of either. Both are polled only where something may have come of it.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Order> {
        let waker = self.waker.as_ref();
        let known = waker.is_some_and(|waker| waker.will_wake(cx.waker()));
        if !known {
            self.waker = Some(cx.waker().clone());
        }
        if (!known || self.inner.stopping().has_begun())
            && let Some(stopped) = &mut self.stopped
            && stopped.as_mut().poll(cx).is_ready()
        {
            self.stopped = None;
            return Poll::Ready(Order::Stop);
        }
        if (!known || self.timer.is_elapsed()) && self.is_late(cx) {
            return Poll::Ready(Order::Close);
        }
        Poll::Pending
    }

    /// Whether the client has taken too long to send the head of a request.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        while self.timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let since = self.pulse.waiting_since().unwrap_or(now);
            let until = since + self.inner.options.header_time;
            if until <= now {
                return true;
            }
            self.timer.as_mut().reset(until);
        }
        false
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::http::pulse::Answering;

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
        type Asked = (&'static Arc<Inner>, Request<Incoming>, Option<Answering>);
        let request = size(|(inner, request, held): Asked| enter(inner, request, held));
        assert!(request <= 896, "{request}");
    }
}

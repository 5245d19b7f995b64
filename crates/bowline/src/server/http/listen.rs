//! Streams of changes: a machine of its own for each, which hears one request.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::{
    Body, Inner, answer,
    events::{Events, Source, event},
    post::{Modern, principal},
};
use crate::{
    proto::server::{Connection, Incoming, Input, errors},
    server::serve::{Outlet, Shared},
};

/// Opens a stream of changes, until the client closes it or the server ends.
pub(super) fn serve(inner: &Arc<Inner>, modern: &Modern<'_>) -> Response<Body> {
    let Ok(place) = Arc::clone(&inner.listens).try_acquire_owned() else {
        let error = errors::internal("The server is busy: too many streams at once");
        return answer::refusal(StatusCode::SERVICE_UNAVAILABLE, Some(&modern.id), &error);
    };
    let (sender, mut frames) = mpsc::unbounded_channel();
    let handle = &inner.handle;
    let machine = Connection::new(handle.config().clone());
    let outlet = Box::new(ListenOutlet(sender));
    let principal = principal(modern.parts);
    let shared = Shared::with_outlet(machine, outlet, handle.serving().clone(), principal);
    let frame = modern.frame.clone();
    shared.command(|machine, now| machine.handle(now, Input::Frame(frame)));
    match frames.try_recv() {
        // It was not opened.
        Ok((true, refused)) => answer::json(StatusCode::OK, refused),
        Ok((false, acknowledged)) => {
            handle.connections().register(&shared);
            let listening = Listening {
                first: Some(acknowledged),
                frames,
                ended: false,
                _shared: shared,
                _place: place,
            };
            answer::stream(Events::new(listening, inner.options.keep_alive))
        }
        Err(_) => {
            let error = errors::internal("The stream was not opened");
            answer::refusal(StatusCode::OK, Some(&modern.id), &error)
        }
    }
}

/// Where a machine's frames go, each with whether it is the last.
struct ListenOutlet(mpsc::UnboundedSender<(bool, Bytes)>);

impl Outlet for ListenOutlet {
    fn send(&mut self, _: Option<Incoming>, answer: bool, frame: Bytes) {
        // Who does not listen any more is about to be dropped.
        let _ = self.0.send((answer, frame));
    }
}

/// A stream of changes. Dropping it ends it.
struct Listening {
    first: Option<Bytes>,
    frames: mpsc::UnboundedReceiver<(bool, Bytes)>,
    ended: bool,
    _shared: Arc<Shared>,
    _place: OwnedSemaphorePermit,
}

impl Source for Listening {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(event(None, &first)));
        }
        if self.ended {
            return Poll::Ready(None);
        }
        let next = std::task::ready!(self.frames.poll_recv(cx));
        Poll::Ready(next.map(|(answer, frame)| {
            self.ended = answer;
            event(None, &frame)
        }))
    }
}

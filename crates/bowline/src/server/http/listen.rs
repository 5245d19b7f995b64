//! Streams of changes: a machine of its own for each, which hears one request.

use std::{
    ops::ControlFlow,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Response, StatusCode};

use super::{
    Body, Inner,
    accounts::{Charge, Counted, Place},
    answer,
    entry::exhausted,
    events::{Events, Source, plain_event},
    news::News,
    post::{Modern, principal},
    protected,
};
use crate::{
    proto::{
        jsonrpc::RequestId,
        server::{Connection, Incoming, Input, errors},
    },
    server::{
        request::Handle,
        serve::{Outlet, Shared},
    },
};

/// Opens a stream of changes, until the client closes it or the server ends.
pub(super) fn serve(inner: &Arc<Inner>, modern: &Modern<'_>, place: Place) -> Response<Body> {
    let counted = match place.account().listen() {
        Ok(counted) => counted,
        Err(why) => return *exhausted(why, "streams at once"),
    };
    let handle = &inner.handle;
    let news = News::default();
    let machine = Connection::new(Arc::clone(handle.config()));
    let outlet = Box::new(ListenOutlet(news.clone()));
    let principal = principal(modern.parts);
    let shared = Shared::with_outlet(machine, outlet, handle.serving().clone(), principal);
    let frame = modern.frame.clone();
    shared.command(|machine, now| machine.handle(now, Input::Frame(frame)));
    match news.next() {
        // It was not opened.
        Some((refused, true)) => answer::json(StatusCode::OK, refused),
        Some((acknowledged, false)) => {
            inner.connections.register(&shared);
            shared.tell_watched(handle);
            let listening = Listening {
                id: modern.id.clone(),
                first: Some(acknowledged),
                news,
                shared,
                handle: Arc::clone(handle),
                _counted: counted,
                _charge: place.leave(),
            };
            let events = Events::new(listening, inner.options.keep_alive);
            answer::stream(events.until(protected::until(modern.parts)))
        }
        None => {
            let error = errors::internal("The stream was not opened");
            answer::refusal(StatusCode::OK, Some(&modern.id), &error)
        }
    }
}

/// Where a machine's frames go.
struct ListenOutlet(News);

impl Outlet for ListenOutlet {
    fn send(&mut self, _: Option<Incoming>, answer: bool, frame: Bytes) {
        self.0.add(answer, frame);
    }
}

/// A stream of changes. Dropping it ends it.
struct Listening {
    id: RequestId,
    first: Option<Bytes>,
    news: News,
    shared: Arc<Shared>,
    handle: Arc<dyn Handle>,
    _counted: Counted,
    /// What it asked for is kept, name by name.
    _charge: Charge,
}

impl Source for Listening {
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>> {
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => std::task::ready!(self.news.poll_next(cx)),
        };
        let Some(frame) = next else {
            return Poll::Ready(ControlFlow::Break(()));
        };
        plain_event(&frame, out);
        Poll::Ready(ControlFlow::Continue(()))
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        plain_event(&protected::ended(&self.id), out);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shared.close(&self.handle);
    }
}

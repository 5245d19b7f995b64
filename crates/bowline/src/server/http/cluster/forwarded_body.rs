//! The response of another node, passed on as it arrives.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as _, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use super::super::{protected::TokenLifetime, quotas::RequestPermit};

/// The body of a response of another node. It ends with the token of its request, which
/// only this node can check again.
pub(in super::super) struct ForwardedBody {
    incoming: Incoming,
    token_lifetime: Option<TokenLifetime>,
    timer: Option<(Instant, Pin<Box<Sleep>>)>,
    is_ended: bool,
    /// Held until the response is sent.
    _permit: Option<RequestPermit>,
}

impl ForwardedBody {
    pub(super) fn new(incoming: Incoming, token_lifetime: Option<TokenLifetime>) -> Self {
        Self {
            incoming,
            token_lifetime,
            timer: None,
            is_ended: false,
            _permit: None,
        }
    }

    pub(in super::super) fn hold(&mut self, permit: RequestPermit) {
        self._permit = Some(permit);
    }

    pub(in super::super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.is_ended || self.has_token_expired(cx) {
            self.is_ended = true;
            return Poll::Ready(None);
        }
        loop {
            let frame = std::task::ready!(Pin::new(&mut self.incoming).poll_frame(cx));
            match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Poll::Ready(Some(data)),
                    Ok(_) | Err(_) => {}
                },
                // An error of the other node ends the response early, which the client
                // sees: a stream can be resumed, and anything else lacks bytes.
                Some(Err(_)) | None => {
                    self.is_ended = true;
                    return Poll::Ready(None);
                }
            }
        }
    }

    pub(in super::super) fn is_ended(&self) -> bool {
        self.is_ended || self.incoming.is_end_stream()
    }

    pub(in super::super) fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }

    fn has_token_expired(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            let Some(lifetime) = &mut self.token_lifetime else {
                return false;
            };
            if let Some(at) = lifetime.next_check() {
                if self.timer.as_ref().is_none_or(|(set_to, _)| *set_to != at) {
                    self.timer = Some((at, Box::pin(sleep_until(at))));
                }
                let timer = self.timer.as_mut();
                if timer.is_some_and(|(_, timer)| timer.as_mut().poll(cx).is_pending()) {
                    return false;
                }
            }
            match lifetime.poll_expired(cx) {
                Poll::Ready(true) => return true,
                Poll::Ready(false) => {}
                Poll::Pending => return false,
            }
        }
    }
}

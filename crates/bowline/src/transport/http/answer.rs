//! What a server answered: a status, headers, and a body that comes bit by bit.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Response;
use reqwest::{StatusCode, Url, header::HeaderMap};

use super::{
    pool::Pieces,
    way::Place,
    words::{innermost, words_of},
};
use crate::transport::{Cause, CauseKind};

/// An answer whose body has not been read yet.
pub(super) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    place: Arc<Place>,
    body: Body,
}

enum Body {
    Direct(Pieces),
    ByClient(Box<reqwest::Response>),
}

impl Answer {
    /// The answer of the server at `place`.
    pub(super) fn direct(place: Arc<Place>, response: Response<Pieces>) -> Self {
        let (parts, pieces) = response.into_parts();
        Self {
            status: parts.status,
            headers: parts.headers,
            place,
            body: Body::Direct(pieces),
        }
    }

    /// The answer that a client found when it was asked for `place`, or where
    /// it was sent on to.
    pub(super) fn by_client(place: &Arc<Place>, mut response: reqwest::Response) -> Self {
        let place = match *response.url() == place.url {
            true => Arc::clone(place),
            false => Place::new(response.url().clone()),
        };
        Self {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            place,
            body: Body::ByClient(Box::new(response)),
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Whether the answer came from there, and not from where that led to.
    pub(super) fn is_from(&self, place: &Arc<Place>) -> bool {
        Arc::ptr_eq(&self.place, place)
    }

    /// Where the answer came from.
    pub(super) fn url(&self) -> &Url {
        &self.place.url
    }

    /// How long the body is to be, if the server said so.
    pub(super) fn announced(&self) -> Option<u64> {
        match &self.body {
            Body::Direct(pieces) => pieces.announced(),
            Body::ByClient(response) => response.content_length(),
        }
    }

    /// The next piece of the body. None where it has ended in order.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Cause> {
        let broken = |why| CauseKind::Io(why).into();
        match &mut self.body {
            Body::Direct(pieces) => {
                let chunk = pieces.next().await;
                chunk.map_err(|error| broken(innermost(&error)))
            }
            Body::ByClient(response) => {
                let chunk = response.chunk().await;
                chunk.map_err(|error| broken(words_of(error)))
            }
        }
    }
}

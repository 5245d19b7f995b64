//! What a server answered: a status, headers, and a body that comes bit by bit.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Response;
use reqwest::{StatusCode, Url, header::HeaderMap};

use super::{
    backend::RequestTarget,
    error_text::{reqwest_error_text, root_cause_text},
    pool::ResponseBody,
};
use crate::transport::{ConnectionError, ConnectionErrorKind};

/// An answer whose body has not been read yet.
pub(super) struct HttpResponse {
    status: StatusCode,
    headers: HeaderMap,
    target: Arc<RequestTarget>,
    body: Body,
}

enum Body {
    Direct(ResponseBody),
    Reqwest(Box<reqwest::Response>),
}

impl HttpResponse {
    /// The answer of the server at `place`.
    pub(super) fn from_direct(
        target: Arc<RequestTarget>,
        response: Response<ResponseBody>,
    ) -> Self {
        let (parts, response_body) = response.into_parts();
        Self {
            status: parts.status,
            headers: parts.headers,
            target,
            body: Body::Direct(response_body),
        }
    }

    /// The answer that a client found when it was asked for `place`, or where
    /// it was sent on to.
    pub(super) fn from_reqwest(
        request_target: &Arc<RequestTarget>,
        mut response: reqwest::Response,
    ) -> Self {
        let target = match *response.url() == request_target.url {
            true => Arc::clone(request_target),
            false => RequestTarget::new(response.url().clone()),
        };
        Self {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            target,
            body: Body::Reqwest(Box::new(response)),
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Whether the answer came from there, and not from where that led to.
    pub(super) fn is_from(&self, request_target: &Arc<RequestTarget>) -> bool {
        Arc::ptr_eq(&self.target, request_target)
    }

    /// Where the answer came from.
    pub(super) fn url(&self) -> &Url {
        &self.target.url
    }

    /// How long the body is to be, if the server said so.
    pub(super) fn content_length(&self) -> Option<u64> {
        match &self.body {
            Body::Direct(response_body) => response_body.content_length(),
            Body::Reqwest(response) => response.content_length(),
        }
    }

    /// The next piece of the body. None where it has ended in order.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, ConnectionError> {
        let broken = |reason| ConnectionErrorKind::Io(reason).into();
        match &mut self.body {
            Body::Direct(response_body) => {
                let chunk = response_body.next().await;
                chunk.map_err(|error| broken(root_cause_text(&error)))
            }
            Body::Reqwest(response) => {
                let chunk = response.chunk().await;
                chunk.map_err(|error| broken(reqwest_error_text(error)))
            }
        }
    }
}

//! HTTP responses: a status, headers, and a streaming body.

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

/// A response whose body has not been read yet.
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
    /// Wraps a response of our own pool.
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

    /// Wraps a response of `reqwest`, which may have followed a redirect from
    /// the target.
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

    /// Returns whether the response is from this target, and not from a
    /// redirect.
    pub(super) fn is_from(&self, request_target: &Arc<RequestTarget>) -> bool {
        Arc::ptr_eq(&self.target, request_target)
    }

    /// Returns the URL that the response is from.
    pub(super) fn url(&self) -> &Url {
        &self.target.url
    }

    /// Returns the length of the body, if the server announced it.
    pub(super) fn content_length(&self) -> Option<u64> {
        match &self.body {
            Body::Direct(response_body) => response_body.content_length(),
            Body::Reqwest(response) => response.content_length(),
        }
    }

    /// Returns the next chunk of the body, or `None` at its regular end.
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

//! In place of `protected`, where nobody can ask for tokens.

use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, request::Parts};
use tokio::time::Instant;

use super::{Body, Inner, activity::RequestGuard};
use crate::proto::jsonrpc::RequestId;

/// Without tokens, nothing ends with them.
pub(super) enum Lifetime {}

impl Lifetime {
    pub(super) fn until(&self) -> Option<Instant> {
        match *self {}
    }

    pub(super) fn poll_over(&mut self, _: &mut Context<'_>) -> Poll<bool> {
        match *self {}
    }
}

pub(super) async fn admit(
    _: &Inner,
    _: &mut Parts,
    _: Option<&RequestGuard>,
) -> Option<Response<Body>> {
    None
}

pub(super) fn admit_call(_: &Inner, _: &Parts, _: &Bytes) -> Option<Response<Body>> {
    None
}

pub(super) fn stream_deadline(_: &Parts) -> Option<Lifetime> {
    None
}

pub(super) fn ended(_: &RequestId) -> Bytes {
    Bytes::new()
}

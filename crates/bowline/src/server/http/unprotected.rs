//! Replaces `protected` if the `auth` feature is off.

use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, request::Parts};
use tokio::time::Instant;

use super::{Body, Inner, activity::RequestGuard};
use crate::proto::jsonrpc::RequestId;

/// Never constructed: without tokens, nothing expires.
pub(super) enum TokenLifetime {}

impl TokenLifetime {
    pub(super) fn next_check(&self) -> Option<Instant> {
        match *self {}
    }

    pub(super) fn poll_expired(&mut self, _: &mut Context<'_>) -> Poll<bool> {
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

pub(super) fn stream_token_lifetime(_: &Parts) -> Option<TokenLifetime> {
    None
}

pub(super) fn token_expired_error(_: &RequestId) -> Bytes {
    Bytes::new()
}

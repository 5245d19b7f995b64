//! In place of `protected`, where nobody can ask for tokens.

use bytes::Bytes;
use http::{Response, request::Parts};
use tokio::time::Instant;

use super::{Body, Inner};

pub(super) async fn admit(_: &Inner, _: &mut Parts) -> Option<Response<Body>> {
    None
}

pub(super) fn admit_call(_: &Inner, _: &Parts, _: &Bytes) -> Option<Response<Body>> {
    None
}

pub(super) fn until(_: &Parts) -> Option<Instant> {
    None
}

//! Requests to the HTTP service, without a socket.

use std::{
    convert::Infallible,
    future::poll_fn,
    hint::black_box,
    pin::Pin,
    task::{Context, Poll},
};

use bowline::server::http::HttpOptions;
use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame, SizeHint};
use serde_json::json;
use tokio::runtime::Runtime;
use tower_service::Service as _;

use crate::server::{TEXT, service, stateless_call};

/// An echo that is answered with JSON.
pub(crate) fn request(runtime: &Runtime, times: usize) {
    let call = stateless_call(&json!({"name": "echo", "arguments": {"text": TEXT}}));
    let mut http = service().http(HttpOptions::default());
    runtime.block_on(async {
        for _ in 0..times {
            let Ok(response) = http.call(post(&call)).await;
            assert_eq!(response.status(), 200);
            let mut body = response.into_body();
            let mut length = 0;
            while let Some(bytes) = next(&mut body).await {
                length += black_box(bytes).len();
            }
            assert!(length > TEXT.len());
        }
    });
}

fn post(body: &Bytes) -> Request<Whole> {
    let request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "echo");
    request.body(Whole(body.clone())).expect("a request")
}

async fn next<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Option<Bytes> {
    let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    frame.ok()?.into_data().ok()
}

/// A body in one piece.
struct Whole(Bytes);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.0);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

//! The `tracing` span of each call.

use crate::proto::client::Outcome;

/// The span of one call, which covers the caller's task and the work it causes. It has
/// the target `bowline`, the name `request`, and the fields `client`, `method` and, at
/// the end, `outcome`.
pub(crate) struct CallSpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
impl CallSpan {
    pub(crate) fn new(client: &str, method: &str) -> Self {
        let outcome = tracing::field::Empty;
        Self {
            span: tracing::info_span!(target: "bowline", "request", client, method, outcome),
        }
    }

    pub(crate) fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        self.span.in_scope(work)
    }

    /// Records how the call ended.
    pub(crate) fn end(&self, outcome: &Outcome) {
        let outcome = match outcome {
            Outcome::Result(_) => "result",
            Outcome::Error(_) => "refused",
            Outcome::Failed(_) => "failed",
        };
        self.span.record("outcome", outcome);
    }
}

#[cfg(not(feature = "tracing"))]
impl CallSpan {
    pub(crate) fn new(_: &str, _: &str) -> Self {
        Self {}
    }

    pub(crate) fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    pub(crate) fn end(&self, _: &Outcome) {}
}

#[cfg(all(test, feature = "tracing"))]
mod tests {
    use super::*;
    use crate::{
        proto::client::{Failure, Outcome},
        tracing_events::capture::assert_documented,
    };

    #[test]
    fn every_span_is_as_the_guide_has_it() {
        assert_documented("## Spans of clients", &["request"], || {
            let span = CallSpan::new("client-1", "tools/call");
            span.end(&Outcome::Failed(Failure::Cancelled));
        });
    }
}

//! The status of a response, with the wait that some statuses ask for.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

/// The wait of a status that asks for one without a better estimate.
const DEFAULT_WAIT: Duration = Duration::from_secs(1);

/// The status of a response.
///
/// 429 and 503 always have a wait, which is sent as `Retry-After`: a client that
/// is not told when to return may return at once. All responses are made from a
/// `ResponseStatus`, so none can lack it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResponseStatus {
    code: StatusCode,
    wait: Option<Duration>,
}

impl ResponseStatus {
    /// 503 while the server shuts down. A restart takes a few seconds.
    pub(super) const SHUTTING_DOWN: Self = Self::unavailable(Duration::from_secs(5));

    /// 503: the server cannot process the request now, but may after `wait`.
    pub(super) const fn unavailable(wait: Duration) -> Self {
        Self {
            code: StatusCode::SERVICE_UNAVAILABLE,
            wait: Some(wait),
        }
    }

    /// 429: this client must wait.
    pub(super) const fn too_many_requests(wait: Duration) -> Self {
        Self {
            code: StatusCode::TOO_MANY_REQUESTS,
            wait: Some(wait),
        }
    }

    /// Creates a status from a number; one that HTTP does not know becomes
    /// `otherwise`.
    pub(super) fn from_u16(status: u16, otherwise: StatusCode) -> Self {
        StatusCode::from_u16(status).unwrap_or(otherwise).into()
    }

    /// Sets the status and its header.
    pub(super) fn set_on<B>(self, response: &mut Response<B>) {
        *response.status_mut() = self.code;
        if let Some(wait) = self.wait {
            set_retry_after(response.headers_mut(), wait);
        }
    }
}

impl From<StatusCode> for ResponseStatus {
    fn from(code: StatusCode) -> Self {
        let waits = matches!(
            code,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        Self {
            code,
            wait: waits.then_some(DEFAULT_WAIT),
        }
    }
}

/// Sets `Retry-After`, in whole seconds and at least one.
fn set_retry_after(headers: &mut HeaderMap, wait: Duration) {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry_after(status: impl Into<ResponseStatus>) -> Option<String> {
        let mut response = Response::new(());
        status.into().set_on(&mut response);
        let value = response.headers().get(header::RETRY_AFTER)?;
        Some(value.to_str().expect("digits").to_owned())
    }

    #[test]
    fn no_503_and_no_429_lacks_a_wait() {
        for code in 100..1000 {
            let code = StatusCode::from_u16(code).expect("three digits");
            let waits = matches!(code.as_u16(), 429 | 503);
            assert_eq!(retry_after(code).is_some(), waits, "{code}");
        }
    }

    #[test]
    fn waits_are_whole_seconds_and_never_zero() {
        for (wait, expected) in [(0, "1"), (1, "1"), (1_000, "1"), (1_001, "2"), (5_000, "5")] {
            let wait = Duration::from_millis(wait);
            for status in [
                ResponseStatus::unavailable(wait),
                ResponseStatus::too_many_requests(wait),
            ] {
                assert_eq!(retry_after(status).as_deref(), Some(expected));
            }
        }
    }
}

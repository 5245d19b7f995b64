//! Error statuses of responses, with their `Retry-After` and the start of their body.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::RETRY_AFTER;

use super::{body, context::HttpContext, response::HttpResponse};
use crate::{proto::http::parse_retry_after, transport::HttpStatusError};

impl HttpContext {
    /// Converts an error status, with the start of its body.
    pub(super) async fn read_status_error(&self, response: &mut HttpResponse) -> HttpStatusError {
        HttpStatusError {
            status: response.status().as_u16(),
            retry_after: retry_after(response),
            body: body::read_prefix(response, self.limits.max_error_body).await,
        }
    }
}

/// Returns the delay from the `Retry-After` header.
pub(super) fn retry_after(response: &HttpResponse) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    parse_retry_after(value.as_bytes(), now.map_or(0, |now| now.as_secs()))
}

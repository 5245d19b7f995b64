//! Notifications about a request while it is open.

use std::cmp::Ordering;

use bytes::Bytes;

use super::{Config, RequestContext};
use crate::{
    jsonrpc::{OutgoingMessage, RawJson},
    model::{LogLevel, LoggingMessageParams, Notification, Number, ProgressParams, ProgressToken},
    revision::LogLevelSource,
};

/// Builds the notifications about one request, and tracks what was sent.
///
/// The machine keeps one for each request. Without a machine, as for stateless
/// requests over HTTP, it works alone: it returns the frame to send, or `None`
/// if the client must not receive it.
#[derive(Clone, Debug, Default)]
pub struct RequestNotifier {
    progress: Option<f64>,
}

impl RequestNotifier {
    /// Builds a progress notification: only with a token, and each number must
    /// be greater than the one before.
    pub fn progress(
        &mut self,
        config: &Config,
        context: &RequestContext,
        progress: impl Into<Number>,
        total: Option<Number>,
        message: Option<&str>,
    ) -> Option<Bytes> {
        let token = context.progress_token.as_ref();
        let params = self.next_progress(token, progress.into(), total, message)?;
        encode_notification(config, context, params)
    }

    /// Builds a log message about the request: only if logging is declared, and
    /// the request asks for messages of this severity.
    pub fn log(
        &self,
        config: &Config,
        context: &RequestContext,
        level: &LogLevel,
        logger: Option<&str>,
        data: RawJson,
    ) -> Option<Bytes> {
        let threshold = match context.rules.log_level {
            LogLevelSource::RequestMeta => context.log_level.as_ref()?,
            LogLevelSource::Method => &config.default_log_level,
        };
        if !is_log_enabled(config, level, threshold) {
            return None;
        }
        let mut params = LoggingMessageParams::new(level.clone(), data);
        params.logger = logger.map(ToOwned::to_owned);
        encode_notification(config, context, params)
    }

    pub(super) fn next_progress(
        &mut self,
        token: Option<&ProgressToken>,
        progress: Number,
        total: Option<Number>,
        message: Option<&str>,
    ) -> Option<ProgressParams> {
        let token = token.cloned()?;
        let value = progress.as_f64();
        let increases = self.progress.is_none_or(|last| last < value);
        let finite = value.is_finite() && total.is_none_or(|total| total.as_f64().is_finite());
        if !increases || !finite {
            return None;
        }
        self.progress = Some(value);
        let mut params = ProgressParams::new(token, progress);
        params.total = total;
        params.message = message.map(ToOwned::to_owned);
        Some(params)
    }
}

/// Returns whether messages of this level are sent at this threshold.
pub(super) fn is_log_enabled(config: &Config, level: &LogLevel, threshold: &LogLevel) -> bool {
    // An unknown level is not comparable, and is not sent.
    let is_severe_enough = level.partial_cmp(threshold).is_some_and(Ordering::is_ge);
    is_severe_enough && config.capabilities.has("logging")
}

fn encode_notification<N: Notification>(
    config: &Config,
    context: &RequestContext,
    mut params: N,
) -> Option<Bytes> {
    params.adapt(&context.rules.features);
    let outgoing = OutgoingMessage::new(N::METHOD, &params).ok()?;
    (outgoing.len() <= config.max_frame_size).then(|| outgoing.into_notification())
}

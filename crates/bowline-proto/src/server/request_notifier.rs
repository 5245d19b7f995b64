//! What a client may be told about its request while it waits.

use std::cmp::Ordering;

use bytes::Bytes;

use super::{Config, RequestContext};
use crate::{
    jsonrpc::{OutgoingMessage, RawJson},
    model::{LogLevel, LoggingMessageParams, Notification, Number, ProgressParams, ProgressToken},
    revision::LogLevelSource,
};

/// What a client was told about one request, and what it may be told next.
///
/// The machine keeps one for each request. Where there is no machine, as for
/// stateless requests over HTTP, it stands alone: it makes the frames to send,
/// or none where the client must not hear it.
#[derive(Clone, Debug, Default)]
pub struct RequestNotifier {
    progress: Option<f64>,
}

impl RequestNotifier {
    /// How far the request has come: only with a token, and each number greater
    /// than the one before.
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

    /// A log message about the request: only where logging is declared, and the
    /// request asks for messages as severe as this one.
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

/// Whether messages of this level are sent to those who want this threshold.
pub(super) fn is_log_enabled(config: &Config, level: &LogLevel, threshold: &LogLevel) -> bool {
    // An unknown level compares with none, and is not sent.
    let is_severe_enough = level.partial_cmp(threshold).is_some_and(Ordering::is_ge);
    is_severe_enough && config.capabilities.has("logging")
}

fn encode_notification<N: Notification>(
    config: &Config,
    context: &RequestContext,
    mut params: N,
) -> Option<Bytes> {
    params.adapt(&context.rules.dialect);
    let outgoing = OutgoingMessage::new(N::METHOD, &params).ok()?;
    (outgoing.len() <= config.max_frame_size).then(|| outgoing.into_notification())
}

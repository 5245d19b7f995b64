//! Admission of requests of the stateless era.
//!
//! Each request is checked by itself, so a server needs no connection: over
//! HTTP, an [`HttpGate`] is all there is.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
};

use bytes::Bytes;

use super::{
    Config, RequestContext, RequestParams, client_info_cache::ClientInfoCache, errors,
    method_check, request_head::RequestHead,
};
use crate::{
    http::{
        Headers,
        header::{HeaderMismatch, MirroredHeaders, check_protocol_version},
    },
    jsonrpc::{ErrorObject, Member, ScanError, ScanErrorKind, code},
    model::{LogLevel, meta::key, task},
    revision::{Era, Revision, Rules},
};

/// Why a request is not admitted: the error and the HTTP status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The error to answer with.
    pub error: ErrorObject,
    /// The HTTP status of the response.
    pub status: u16,
}

/// Returns whether these parameters belong to a stateless request: their
/// `_meta` contains the protocol version or the client's capabilities.
///
/// Returns false for parameters that cannot be read; decoding them reports the
/// error.
///
/// ```
/// use bowline_proto::server::stateless;
///
/// let modern = br#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
/// assert!(stateless::is_stateless_request(Some(modern)));
/// assert!(!stateless::is_stateless_request(Some(br#"{"protocolVersion":"2025-11-25"}"#)));
/// ```
#[must_use]
pub fn is_stateless_request(params: Option<&[u8]>) -> bool {
    RequestHead::read(params).is_ok_and(|head| head.is_stateless())
}

/// Admits a request of the stateless era if it has all required members, in a
/// version that we support, and asks for a method that we have.
///
/// # Errors
///
/// Returns the rejection otherwise. A server that supports no stateless
/// revision has no methods in that era, which makes clients fall back to the
/// handshake.
///
/// ```
/// use bowline_proto::server::{Config, stateless};
///
/// let config = Config::new("travel", "1.0.0");
/// let refused = stateless::admit(&config, "server/discover", None).unwrap_err();
/// assert_eq!((refused.error.code, refused.status), (-32602, 400));
/// ```
pub fn admit(
    config: &Config,
    method: &str,
    params: Option<&[u8]>,
) -> Result<RequestContext, Rejection> {
    let head = RequestHead::read(params)?;
    admit_head(config, method, &head, &mut ClientInfoCache::default())
}

/// Admits a request of the stateless era that arrived over HTTP: in addition,
/// its headers must match its body.
///
/// Of several faults the first is reported, in this order: missing members of
/// `_meta`, a version header that differs, an unsupported version, other
/// headers that differ, an unknown method.
///
/// # Errors
///
/// As [`admit`], and if a header is missing or differs.
///
/// ```
/// use bowline_proto::server::{Config, stateless};
///
/// let config = Config::new("travel", "1.0.0");
/// let params = br#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
///     "io.modelcontextprotocol/clientCapabilities":{}}}"#;
/// let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
/// assert!(stateless::admit_http(&config, "server/discover", Some(params), &headers).is_ok());
/// let none: [(&str, &str); 0] = [];
/// let refused = stateless::admit_http(&config, "server/discover", Some(params), &none).unwrap_err();
/// assert_eq!((refused.error.code, refused.status), (-32020, 400));
/// ```
pub fn admit_http<H: Headers + ?Sized>(
    config: &Config,
    method: &str,
    params: Option<&[u8]>,
    headers: &H,
) -> Result<RequestContext, Rejection> {
    let head = RequestHead::read(params)?;
    let mut uncached = ClientInfoCache::default();
    admit_http_head(config, method, params, &head, headers, &mut uncached)
}

/// Admits requests that arrive over HTTP, as [`admit_http`] does, one after
/// another or at once. A server has one gate for all of its requests.
///
/// Clients send the same description of themselves with every request. The gate
/// keeps the last one, so it is not decoded again.
#[derive(Debug, Default)]
pub struct HttpGate {
    last_client: Mutex<ClientInfoCache>,
}

/// A request that is admitted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Admitted {
    /// The client and the rules of the request.
    pub context: RequestContext,
    /// The parameters, verbatim.
    pub params: Option<RequestParams>,
}

impl HttpGate {
    /// Admits a request.
    ///
    /// # Errors
    ///
    /// As [`admit_http`].
    pub fn admit<H: Headers + ?Sized>(
        &self,
        config: &Config,
        method: &str,
        params: Option<Bytes>,
        headers: &H,
    ) -> Result<Admitted, Rejection> {
        let head = RequestHead::read(params.as_deref())?;
        let call_spans = head.call_spans();
        // If another thread has the cache, decoding is faster than waiting.
        let mut uncached = ClientInfoCache::default();
        let mut cached = self.last_client.try_lock().ok();
        let cache = cached.as_deref_mut().unwrap_or(&mut uncached);
        let params_json = params.as_deref();
        let context = admit_http_head(config, method, params_json, &head, headers, cache)?;
        let params = params.map(|params| RequestParams::new(params, call_spans));
        Ok(Admitted { context, params })
    }
}

fn admit_http_head<H: Headers + ?Sized>(
    config: &Config,
    method: &str,
    params: Option<&[u8]>,
    head: &RequestHead<'_>,
    headers: &H,
    cache: &mut ClientInfoCache,
) -> Result<RequestContext, Rejection> {
    if !config.supports_era(Era::Stateless) {
        return Err(errors::unknown_method(method).into());
    }
    let (version, revision) = requested_version(config, head)?;
    check_protocol_version(headers, &version)?;
    let rules = supported_rules(config, &version, revision)?;
    let mirror = match head.mirrored_member(method) {
        Some(member) => MirroredHeaders::with_member(method, Some(member))?,
        None => MirroredHeaders::from_message(method, params)?,
    };
    mirror.check_request(headers)?;
    admit_with_rules(config, rules, method, head, cache)
}

pub(super) fn admit_head(
    config: &Config,
    method: &str,
    head: &RequestHead<'_>,
    cache: &mut ClientInfoCache,
) -> Result<RequestContext, Rejection> {
    if !config.supports_era(Era::Stateless) {
        return Err(errors::unknown_method(method).into());
    }
    // Missing required members are reported before any value is checked.
    let (version, revision) = requested_version(config, head)?;
    let rules = supported_rules(config, &version, revision)?;
    admit_with_rules(config, rules, method, head, cache)
}

/// Admits a request by the rules of its version.
fn admit_with_rules(
    config: &Config,
    rules: &'static Rules,
    method: &str,
    head: &RequestHead<'_>,
    cache: &mut ClientInfoCache,
) -> Result<RequestContext, Rejection> {
    method_check::check_method(config, rules, method)?;
    let client = cache.read(head)?;
    if method_check::is_task_method(method)
        && !client.capabilities.has_extension(task::EXTENSION_ID)
    {
        return Err(errors::missing_capability(rules, task::required_capability()).into());
    }
    Ok(RequestContext {
        rules,
        client,
        server_info: Arc::clone(&config.server_info),
        server_info_json: config.encoded_server_info(rules),
        progress_token: head.get(key::PROGRESS_TOKEN)?,
        log_level: log_level(head)?,
    })
}

impl From<ErrorObject> for Rejection {
    fn from(error: ErrorObject) -> Self {
        Self {
            status: errors::http_status(&error),
            error,
        }
    }
}

impl From<HeaderMismatch> for Rejection {
    fn from(mismatch: HeaderMismatch) -> Self {
        Self {
            error: mismatch.to_error(),
            status: HeaderMismatch::STATUS,
        }
    }
}

impl From<&ScanError> for Rejection {
    /// Returns the rejection of a frame that is not a message.
    fn from(scan_error: &ScanError) -> Self {
        let code = match scan_error.kind {
            ScanErrorKind::UnexpectedEnd
            | ScanErrorKind::NotJson
            | ScanErrorKind::MismatchedBracket
            | ScanErrorKind::TrailingBytes => code::PARSE_ERROR,
            _ => code::INVALID_REQUEST,
        };
        let (kind, offset) = (scan_error.kind, scan_error.offset);
        ErrorObject::new(code, format!("{kind} (at byte {offset})")).into()
    }
}

/// Returns the rules of the version that a request names, if we support it.
fn supported_rules(
    config: &Config,
    version: &str,
    revision: Option<Revision>,
) -> Result<&'static Rules, Rejection> {
    let rules = revision.map(Revision::rules);
    rules.ok_or_else(|| errors::unsupported_version(config.supported_versions(), version).into())
}

/// Returns the version that the request names, and its revision if we support
/// it.
fn requested_version<'a>(
    config: &Config,
    head: &RequestHead<'a>,
) -> Result<(Cow<'a, str>, Option<Revision>), Rejection> {
    let raw = head.raw_or_empty(key::PROTOCOL_VERSION);
    let version = match Member::from_value(raw) {
        Member::String(version) => version,
        _ => match head.get::<String>(key::PROTOCOL_VERSION)? {
            Some(version) => version.into(),
            None => return Err(missing_meta(key::PROTOCOL_VERSION)),
        },
    };
    let revision = Revision::parse(&version)
        .filter(|it| config.revisions.contains(it) && it.era() == Era::Stateless);
    let required_keys = revision.map_or(&[key::CLIENT_CAPABILITIES][..], |revision| {
        revision.rules().required_request_meta
    });
    if let Some(key) = required_keys.iter().find(|key| !head.has(key)) {
        return Err(missing_meta(key));
    }
    Ok((version, revision))
}

pub(super) fn missing_meta(key: &str) -> Rejection {
    Rejection {
        error: ErrorObject::new(
            code::INVALID_PARAMS,
            format!("Invalid params: _meta[{key:?}] is missing"),
        ),
        status: 400,
    }
}

fn log_level(head: &RequestHead<'_>) -> Result<Option<LogLevel>, Rejection> {
    let level: Option<LogLevel> = head.get(key::LOG_LEVEL)?;
    match level {
        Some(level) if !LogLevel::ALL.contains(&level) => Err(unknown_level(&level).into()),
        level => Ok(level),
    }
}

pub(super) fn unknown_level(level: &LogLevel) -> ErrorObject {
    let message = format!("Invalid params: unknown log level {:?}", level.as_str());
    ErrorObject::new(code::INVALID_PARAMS, message)
}

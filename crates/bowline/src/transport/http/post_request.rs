//! An outgoing frame with the headers that mirror its contents.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::{context::HttpContext, event_channel::ExchangeOwner};
use crate::{
    proto::{
        http::header::{MirroredHeaders, name},
        jsonrpc::{Envelope, decode, scan},
        model::{InitializedParams, method},
        revision::{Revision, Rules, VersionHeader},
    },
    transport::OutgoingFrame,
};

/// A frame that is ready to be posted.
pub(super) struct PostRequest {
    /// The request id, if a response is expected.
    pub(super) id: Option<u64>,
    pub(super) kind: FrameKind,
    pub(super) headers: RequestHeaders,
    pub(super) frame: Bytes,
}

/// The headers of a request.
pub(super) struct RequestHeaders {
    /// The headers that all requests of its kind share.
    pub(super) common: Arc<HeaderMap>,
    /// The headers of this request alone, which override the shared ones.
    pub(super) extra: Vec<(HeaderName, HeaderValue)>,
}

impl RequestHeaders {
    /// Merges the headers with the credentials.
    pub(super) fn merged_with(&self, credentials: &HeaderMap) -> HeaderMap {
        let mut headers = HeaderMap::clone(&self.common);
        for (name, value) in &self.extra {
            headers.insert(name, value.clone());
        }
        if !credentials.is_empty() {
            headers.extend(credentials.clone());
        }
        headers
    }
}

impl From<HeaderMap> for RequestHeaders {
    fn from(headers: HeaderMap) -> Self {
        Self {
            common: Arc::new(headers),
            extra: Vec::new(),
        }
    }
}

/// The frames that the transport treats specially.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Its response may open a session.
    Initialize,
    /// It ends the handshake.
    Initialized,
    /// Its response tells which arguments are sent as headers.
    ListTools {
        /// Whether it requests the first page.
        first: bool,
    },
    Other,
}

impl PostRequest {
    /// Builds the headers of a frame.
    ///
    /// # Errors
    ///
    /// Returns an error if the frame has a value that cannot be sent in a
    /// header, which a server could only refuse.
    pub(super) fn new(context: &HttpContext, outgoing: OutgoingFrame) -> Result<Self, String> {
        let OutgoingFrame { id, frame } = outgoing;
        let (kind, headers) = match scan(&frame) {
            Ok(
                Envelope::Request { method, params, .. }
                | Envelope::Notification { method, params },
            ) => (
                FrameKind::from_method(&method, params),
                request_headers(context, &method, params)?,
            ),
            // A response of ours, which only the handshake era has.
            Ok(Envelope::Response { .. } | Envelope::Error { .. }) | Err(_) => {
                let common = context.post_headers(context.rules());
                let extra = Vec::new();
                (FrameKind::Other, RequestHeaders { common, extra })
            }
        };
        Ok(Self {
            id,
            kind,
            headers,
            frame,
        })
    }

    pub(super) fn owner(&self) -> ExchangeOwner {
        match (self.id, self.kind) {
            (Some(id), _) => ExchangeOwner::Request(id),
            (None, FrameKind::Initialized) => ExchangeOwner::Initialized,
            (None, _) => ExchangeOwner::None,
        }
    }
}

impl FrameKind {
    fn from_method(name: &str, params: Option<&[u8]>) -> Self {
        match name {
            method::INITIALIZE => Self::Initialize,
            method::INITIALIZED => Self::Initialized,
            method::TOOLS_LIST => Self::ListTools {
                first: !params.is_some_and(has_cursor),
            },
            _ => Self::Other,
        }
    }
}

fn has_cursor(params: &[u8]) -> bool {
    decode::<crate::proto::model::ListToolsParams>(params)
        .is_ok_and(|params| params.cursor.is_some())
}

/// Builds the headers of a message, with those that mirror its body.
fn request_headers(
    context: &HttpContext,
    method: &str,
    params: Option<&[u8]>,
) -> Result<RequestHeaders, String> {
    // Before the revision is negotiated, the body names the one it is written
    // in.
    let rules = context.rules().or_else(|| rules_from_params(params));
    let common = context.post_headers(rules);
    let mut extra = Vec::new();
    if !rules.is_some_and(|rules| rules.mirror_headers) {
        return Ok(RequestHeaders { common, extra });
    }
    let mirror =
        MirroredHeaders::from_message(method, params).map_err(|error| error.to_string())?;
    for field in mirror.fields().map_err(|error| error.to_string())? {
        extra.extend(header(field.name(), field.value()));
    }
    if method == method::TOOLS_CALL {
        for (name, value) in context.tool_headers(params.unwrap_or(b"{}"))? {
            extra.extend(header(&name, &value));
        }
    }
    Ok(RequestHeaders { common, extra })
}

/// Returns the rules of the revision that a request names in `_meta`.
fn rules_from_params(params: Option<&[u8]>) -> Option<&'static Rules> {
    // Any parameter type works: only `_meta` is read.
    let params = decode::<InitializedParams>(params?).ok()?;
    let version = params.meta?.protocol_version().ok().flatten()?;
    Revision::parse(&version).map(Revision::rules)
}

/// Adds the version header, if the rules require it.
pub(super) fn insert_version(rules: Option<&'static Rules>, headers: &mut HeaderMap) {
    if let Some(rules) = rules
        && rules.version_header != VersionHeader::Never
    {
        headers.extend(header(name::MCP_PROTOCOL_VERSION, rules.revision.as_str()));
    }
}

/// Creates a header whose name is a token and whose value is printable ASCII,
/// as the protocol rules guarantee.
fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = match name {
        // Common names need no validation.
        name::MCP_METHOD => HeaderName::from_static(name::MCP_METHOD),
        name::MCP_NAME => HeaderName::from_static(name::MCP_NAME),
        other => HeaderName::try_from(other).ok()?,
    };
    Some((name, HeaderValue::from_str(value).ok()?))
}

//! A frame on its way out, with the headers that say again what it says.

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
    /// The id, where an answer is wanted.
    pub(super) id: Option<u64>,
    pub(super) kind: FrameKind,
    pub(super) headers: RequestHeaders,
    pub(super) frame: Bytes,
}

/// The headers of a request.
pub(super) struct RequestHeaders {
    /// What all of its kind have in common.
    pub(super) common: Arc<HeaderMap>,
    /// What this one alone has, instead or besides.
    pub(super) extra: Vec<(HeaderName, HeaderValue)>,
}

impl RequestHeaders {
    /// What the request says, and who sends it.
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

/// The frames that mean something to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The answer to it may open a session.
    Initialize,
    /// It ends the handshake.
    Initialized,
    /// The answer to it tells which arguments go into headers.
    ListTools {
        /// Whether it asks for the first page.
        first: bool,
    },
    Other,
}

impl PostRequest {
    /// Writes the headers of a frame.
    ///
    /// # Errors
    ///
    /// Where the frame says something that no header can carry, so that a
    /// server could only refuse it.
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
            // An answer of ours, which only the handshake era has.
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

/// The headers of a message, with those that mirror its body.
fn request_headers(
    context: &HttpContext,
    method: &str,
    params: Option<&[u8]>,
) -> Result<RequestHeaders, String> {
    // Before the revision is settled, the body says which one it is written in.
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

/// The rules of the revision that a request names in `_meta`.
fn rules_from_params(params: Option<&[u8]>) -> Option<&'static Rules> {
    // Any parameters will do: only `_meta` is read.
    let params = decode::<InitializedParams>(params?).ok()?;
    let version = params.meta?.protocol_version().ok().flatten()?;
    Revision::parse(&version).map(Revision::rules)
}

/// Names the version, where the rules want it.
pub(super) fn insert_version(rules: Option<&'static Rules>, headers: &mut HeaderMap) {
    if let Some(rules) = rules
        && rules.version_header != VersionHeader::Never
    {
        headers.extend(header(name::MCP_PROTOCOL_VERSION, rules.revision.as_str()));
    }
}

/// A header whose name is a token and whose value is printable ASCII, as the
/// rules of the protocol see to.
fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = match name {
        // The usual ones need no looking at.
        name::MCP_METHOD => HeaderName::from_static(name::MCP_METHOD),
        name::MCP_NAME => HeaderName::from_static(name::MCP_NAME),
        other => HeaderName::try_from(other).ok()?,
    };
    Some((name, HeaderValue::from_str(value).ok()?))
}

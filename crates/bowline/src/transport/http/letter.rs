//! A frame on its way out, with the headers that say again what it says.

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::{outbox::Whose, talk::Talk};
use crate::{
    proto::{
        http::header::{Mirror, name},
        jsonrpc::{Envelope, decode, scan},
        model::{InitializedParams, method},
        revision::{Revision, Rules, VersionHeader},
    },
    transport::Outgoing,
};

/// A frame that is ready to be posted.
pub(super) struct Letter {
    /// The id, where an answer is wanted.
    pub(super) id: Option<u64>,
    pub(super) kind: Kind,
    pub(super) headers: HeaderMap,
    pub(super) frame: Bytes,
}

/// The frames that mean something to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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

impl Letter {
    /// Writes the headers of a frame.
    ///
    /// # Errors
    ///
    /// Where the frame says something that no header can carry, so that a
    /// server could only refuse it.
    pub(super) fn new(talk: &Talk, outgoing: Outgoing) -> Result<Self, String> {
        let Outgoing { id, frame } = outgoing;
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static(name::APPLICATION_JSON),
        );
        headers.insert(ACCEPT, HeaderValue::from_static(name::ACCEPT_BOTH));
        talk.name_session(&mut headers);
        let kind = match scan(&frame) {
            Ok(
                Envelope::Request { method, params, .. }
                | Envelope::Notification { method, params },
            ) => {
                mark(talk, &method, params, &mut headers)?;
                Kind::of(&method, params)
            }
            // An answer of ours, which only the handshake era has.
            Ok(Envelope::Response { .. } | Envelope::Error { .. }) | Err(_) => {
                name_version(talk.rules(), &mut headers);
                Kind::Other
            }
        };
        Ok(Self {
            id,
            kind,
            headers,
            frame,
        })
    }

    pub(super) fn whose(&self) -> Whose {
        match (self.id, self.kind) {
            (Some(id), _) => Whose::Request(id),
            (None, Kind::Initialized) => Whose::Initialized,
            (None, _) => Whose::Nobody,
        }
    }
}

impl Kind {
    fn of(name: &str, params: Option<&[u8]>) -> Self {
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

/// Names the version where the rules want it, and mirrors the body.
fn mark(
    talk: &Talk,
    method: &str,
    params: Option<&[u8]>,
    headers: &mut HeaderMap,
) -> Result<(), String> {
    // Before the revision is settled, the body says which one it is written in.
    let rules = talk.rules().or_else(|| rules_in(params));
    name_version(rules, headers);
    if !rules.is_some_and(|rules| rules.mirror_headers) {
        return Ok(());
    }
    let mirror = Mirror::of(method, params).map_err(|error| error.to_string())?;
    for field in mirror.fields().map_err(|error| error.to_string())? {
        put(headers, field.name(), field.value());
    }
    if method == method::TOOLS_CALL {
        for (name, value) in talk.tool_headers(params.unwrap_or(b"{}"))? {
            put(headers, &name, &value);
        }
    }
    Ok(())
}

/// The rules of the revision that a request names in `_meta`.
fn rules_in(params: Option<&[u8]>) -> Option<&'static Rules> {
    // Any parameters will do: only `_meta` is read.
    let params = decode::<InitializedParams>(params?).ok()?;
    let version = params.meta?.protocol_version().ok().flatten()?;
    Revision::parse(&version).map(Revision::rules)
}

/// Names the version, where the rules want it.
pub(super) fn name_version(rules: Option<&'static Rules>, headers: &mut HeaderMap) {
    if let Some(rules) = rules
        && rules.version_header != VersionHeader::Never
    {
        put(headers, name::MCP_PROTOCOL_VERSION, rules.revision.as_str());
    }
}

/// Sets a header whose name is a token and whose value is printable ASCII, as
/// the rules of the protocol see to.
fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

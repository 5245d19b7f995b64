//! A frame on its way out, with the headers that say again what it says.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

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
    pub(super) heading: Heading,
    pub(super) frame: Bytes,
}

/// The headers of a request.
pub(super) struct Heading {
    /// What all of its kind have in common.
    pub(super) common: Arc<HeaderMap>,
    /// What this one alone has, instead or besides.
    pub(super) own: Vec<(HeaderName, HeaderValue)>,
}

impl Heading {
    /// What the request says, and who sends it.
    pub(super) fn with(&self, credentials: &HeaderMap) -> HeaderMap {
        let mut headers = HeaderMap::clone(&self.common);
        for (name, value) in &self.own {
            headers.insert(name, value.clone());
        }
        if !credentials.is_empty() {
            headers.extend(credentials.clone());
        }
        headers
    }
}

impl From<HeaderMap> for Heading {
    fn from(headers: HeaderMap) -> Self {
        Self {
            common: Arc::new(headers),
            own: Vec::new(),
        }
    }
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
        let (kind, heading) = match scan(&frame) {
            Ok(
                Envelope::Request { method, params, .. }
                | Envelope::Notification { method, params },
            ) => (Kind::of(&method, params), heading(talk, &method, params)?),
            // An answer of ours, which only the handshake era has.
            Ok(Envelope::Response { .. } | Envelope::Error { .. }) | Err(_) => {
                let common = talk.posting(talk.rules());
                let own = Vec::new();
                (Kind::Other, Heading { common, own })
            }
        };
        Ok(Self {
            id,
            kind,
            heading,
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

/// The headers of a message, with those that mirror its body.
fn heading(talk: &Talk, method: &str, params: Option<&[u8]>) -> Result<Heading, String> {
    // Before the revision is settled, the body says which one it is written in.
    let rules = talk.rules().or_else(|| rules_in(params));
    let common = talk.posting(rules);
    let mut own = Vec::new();
    if !rules.is_some_and(|rules| rules.mirror_headers) {
        return Ok(Heading { common, own });
    }
    let mirror = Mirror::of(method, params).map_err(|error| error.to_string())?;
    for field in mirror.fields().map_err(|error| error.to_string())? {
        own.extend(header(field.name(), field.value()));
    }
    if method == method::TOOLS_CALL {
        for (name, value) in talk.tool_headers(params.unwrap_or(b"{}"))? {
            own.extend(header(&name, &value));
        }
    }
    Ok(Heading { common, own })
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

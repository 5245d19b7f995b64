//! The messages that the limits read and write: no more of them than the work
//! takes, borrowed from the line where that is possible.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::arguments::Era;

/// What a client's message has that a server must know, in one pass.
#[derive(Deserialize)]
pub(crate) struct Request<'a> {
    /// Notifications have none.
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) method: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) params: Params<'a>,
}

/// The parameters of a call; those of others have nothing in common with them.
#[derive(Default, Deserialize)]
pub(crate) struct Params<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) arguments: Arguments<'a>,
}

/// The arguments of the tool.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Arguments<'a> {
    #[serde(borrow)]
    pub(crate) text: Cow<'a, str>,
}

/// What a message is about, and nothing else.
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    /// Answers have none.
    #[serde(borrow, default)]
    pub(crate) method: Cow<'a, str>,
}

/// What a server answers.
#[derive(Serialize)]
pub(crate) struct Answer<'a, R> {
    pub(crate) jsonrpc: &'static str,
    pub(crate) id: &'a RawValue,
    pub(crate) result: R,
}

/// The result of a call, to write.
#[derive(Serialize)]
pub(crate) struct Said<'a> {
    pub(crate) content: [Block<'a>; 1],
    #[serde(rename = "isError")]
    pub(crate) is_error: bool,
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    pub(crate) result_type: Option<&'static str>,
}

/// A block of content.
#[derive(Deserialize, Serialize)]
pub(crate) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) text: Cow<'a, str>,
}

/// What a server's message has that a client must know.
#[derive(Deserialize)]
pub(crate) struct Reply<'a> {
    /// Notifications have none.
    #[serde(default)]
    pub(crate) id: Option<u64>,
    /// Neither errors nor notifications have one.
    #[serde(borrow, default)]
    pub(crate) result: Option<Outcome<'a>>,
}

/// The result of a call, to read. Those of others have no content.
#[derive(Deserialize)]
pub(crate) struct Outcome<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Vec<Block<'a>>,
    #[serde(default, rename = "isError")]
    pub(crate) is_error: bool,
}

/// A call, to write.
#[derive(Serialize)]
pub(crate) struct Call<'a> {
    pub(crate) jsonrpc: &'static str,
    pub(crate) id: u64,
    pub(crate) method: &'static str,
    pub(crate) params: CallParams<'a>,
}

/// The parameters of a call, to write.
#[derive(Serialize)]
pub(crate) struct CallParams<'a> {
    pub(crate) name: &'static str,
    pub(crate) arguments: Arguments<'a>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub(crate) meta: Option<Meta>,
}

/// What every request says where there is no handshake.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'static str,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client: Implementation,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Nothing,
}

#[derive(Clone, Copy, Serialize)]
struct Implementation {
    name: &'static str,
    version: &'static str,
}

#[derive(Clone, Copy, Serialize)]
struct Nothing {}

impl Meta {
    /// What requests of this era say.
    pub(crate) fn of(era: Era) -> Option<Self> {
        (era == Era::Stateless).then_some(Self {
            version: Era::Stateless.revision(),
            client: Implementation {
                name: "limit",
                version: "1",
            },
            capabilities: Nothing {},
        })
    }
}

/// The first request of a client, with the id 0, as a line. Before a call can
/// be made it must be answered and [`after`] sent.
pub(crate) fn opening(era: Era) -> &'static str {
    match era {
        Era::Handshake => concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"limit","version":"1"}}}"#,
            "\n"
        ),
        Era::Stateless => concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"limit","version":"1"},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            "\n"
        ),
    }
}

/// What a client says when its first request was answered.
pub(crate) fn after(era: Era) -> &'static str {
    match era {
        Era::Handshake => "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        Era::Stateless => "",
    }
}

/// The result of everything that is asked before the first call.
pub(crate) fn prelude(method: &str) -> Option<&'static RawValue> {
    let text = match method {
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"limit","version":"1"}}"#
        }
        "server/discover" => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"limit","version":"1"}}}"#
        }
        "tools/list" => {
            r#"{"tools":[{"name":"echo","description":"Says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}],"resultType":"complete","ttlMs":0,"cacheScope":"public"}"#
        }
        _ => return None,
    };
    serde_json::from_str(text).ok()
}

//! What the fake server says, word for word.

use serde_json::{Value, json};

use super::{rig::server_capabilities, sim_op::AskKind, sim_rng::Chance};

/// Something that the server says, some time from now.
pub(crate) struct Emission {
    pub(crate) after: u64,
    pub(crate) what: What,
    /// Not to be lost: without it, the two could never agree again.
    pub(crate) sturdy: bool,
    pub(crate) about: Option<About>,
}

pub(crate) enum What {
    Frame(String),
    Close,
    Status {
        id: Option<u64>,
        code: u16,
        body: String,
    },
}

/// What an answer is an answer to.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// The id that it names.
    pub(crate) wire: u64,
    pub(crate) serial: u64,
    pub(crate) question: Option<Question>,
    /// It is the answer to another request, under a stolen id.
    pub(crate) crossed: bool,
}

/// An answer that asks for another round.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) state: Option<String>,
    pub(crate) keys: Vec<&'static str>,
    /// Nothing is asked: the request is put off.
    pub(crate) pauses: bool,
}

impl Emission {
    pub(crate) fn frame(after: u64, json: &Value) -> Self {
        Self {
            after,
            what: What::Frame(json.to_string()),
            sturdy: false,
            about: None,
        }
    }

    pub(crate) fn result(id: u64, result: &Value) -> Self {
        Self::frame(0, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    pub(crate) fn error(id: u64, code: i64) -> Self {
        let error = json!({"code": code, "message": "no"});
        Self::frame(0, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }

    pub(crate) fn close() -> Self {
        Self {
            after: 0,
            what: What::Close,
            sturdy: true,
            about: None,
        }
    }

    pub(crate) fn status(id: Option<u64>, code: u16, body: String) -> Self {
        Self {
            after: 0,
            what: What::Status { id, code, body },
            sturdy: true,
            about: None,
        }
    }
}

pub(crate) fn initialized(id: u64, version: &str) -> Emission {
    Emission::result(
        id,
        &json!({
            "protocolVersion": version,
            "capabilities": server_capabilities(),
            "serverInfo": {"name": "fake", "version": "1"},
        }),
    )
}

pub(crate) fn refuse_probe(http: bool, id: u64, chance: &mut Chance) -> Emission {
    match chance.below(6) {
        0 if http => Emission::status(Some(id), 400, String::new()),
        1 if http => Emission::status(Some(id), 404, "not here".to_owned()),
        0 => {
            let error = json!({"code": -32600, "message": "what?"});
            Emission::frame(0, &json!({"jsonrpc": "2.0", "id": null, "error": error}))
        }
        1 | 2 => Emission::error(id, -32602),
        _ => Emission::error(id, -32601),
    }
}

pub(crate) fn refuse_initialize(http: bool, id: u64, chance: &mut Chance) -> Emission {
    if chance.below(4) == 0 {
        return Emission::error(id, -32601);
    }
    let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
    let error = json!({"code": -32022, "message": "too old", "data": data});
    let frame = json!({"jsonrpc": "2.0", "id": id, "error": error});
    if http && chance.below(2) == 0 {
        return Emission::status(Some(id), 400, frame.to_string());
    }
    Emission::frame(0, &frame)
}

pub(crate) fn request(kind: AskKind, id: u8) -> Value {
    let method = match kind {
        AskKind::Ping => "ping",
        AskKind::Roots => "roots/list",
        AskKind::Sampling => "sampling/createMessage",
        AskKind::Elicit => "elicitation/create",
        AskKind::Initialize => "initialize",
        AskKind::Unknown => "weather/forecast",
    };
    let params = match kind {
        AskKind::Sampling => json!({"messages": [], "maxTokens": 1}),
        AskKind::Elicit => {
            json!({"message": "?", "requestedSchema": {"type": "object", "properties": {}}})
        }
        _ => json!({}),
    };
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

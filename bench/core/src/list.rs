//! A list of a thousand tools.

use bowline::server::{Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{client, server::Peer};

const TOOLS: usize = 1000;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Input {
    /// Where to look
    path: String,
    /// What to look for
    pattern: String,
    /// How much to show
    limit: Option<u32>,
    /// Whether to go on below
    deep: bool,
}

fn tool(number: usize) -> Tool {
    Tool::new(format!("tool{number}"))
        .description("Looks for a pattern in the files of a folder, and says where it is")
        .input::<Input>()
        .handler(async |_| Ok("nothing"))
}

/// Decodes the list, as often as one says, with all that a client does.
pub(crate) fn decode(runtime: &Runtime, times: usize) {
    let schema = json!({"type": "object", "required": ["path", "pattern", "deep"], "properties": {
        "path": {"type": "string", "description": "Where to look"},
        "pattern": {"type": "string", "description": "What to look for"},
        "limit": {"type": ["integer", "null"], "format": "uint32", "minimum": 0},
        "deep": {"type": "boolean", "description": "Whether to go on below"},
    }});
    let tools = (0..TOOLS).map(|number| {
        json!({
            "name": format!("tool{number}"), "inputSchema": schema,
            "description": "Looks for a pattern in the files of a folder, and says where it is",
        })
    });
    let list = json!({"tools": tools.collect::<Vec<_>>()}).to_string();
    runtime.block_on(async {
        let client = client::connect("tools/list", list).await;
        for _ in 0..times {
            let tools = client.tools().list().await.expect("a list");
            assert_eq!(tools.len(), TOOLS);
        }
        client.stop().await;
    });
}

/// Serves the list.
pub(crate) fn serve(runtime: &Runtime, times: usize) {
    let server = Server::new("core", "1").tools((0..TOOLS).map(tool));
    let mut peer = Peer::new(runtime, server.build().expect("the server is sound"));
    peer.shake_hands();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    peer.repeat(&list.to_string().into(), times, 100);
}

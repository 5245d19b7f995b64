//! What a call costs the server.

use allocation_counter::{AllocationInfo, measure};
use bowline::{
    server::{Server, Service, Tool},
    transport::MemoryLink,
};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Say {
    message: String,
}

fn service(tools: usize) -> Service {
    let tool = |name: String| {
        Tool::new(name)
            .description("Says it again")
            .input::<Say>()
            .handler(async |say| Ok(say.message))
    };
    let others = (1..tools).map(|number| tool(format!("other{number}")));
    let all = others.chain([tool("echo".to_owned())]);
    let server = Server::new("cost", "1").tools(all);
    server.build().expect("the server is sound")
}

const HANDSHAKE: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
];
const LEGACY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}"#;
const MODERN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// How many allocations each of many calls costs, of which the first few warm
/// the tables up.
fn allocations_per_call(tools: usize, handshake: bool) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let service = service(tools);
    let (mut client, server) = MemoryLink::pair();
    runtime.spawn(async move { service.serve(server).await });
    let call = Bytes::from_static(if handshake { LEGACY } else { MODERN }.as_bytes());
    if handshake {
        runtime.block_on(async {
            client
                .send_frame(Bytes::from_static(HANDSHAKE[0].as_bytes()))
                .await;
            client.recv().await.expect("an introduction");
            client
                .send_frame(Bytes::from_static(HANDSHAKE[1].as_bytes()))
                .await;
        });
    }
    let mut ask = || {
        runtime.block_on(async {
            client.send_frame(call.clone()).await;
            let answer = client.recv().await.expect("an answer");
            assert!(
                answer.windows(4).any(|part| part == b"\"hi\""),
                "{answer:?}"
            );
        });
    };
    (0..20).for_each(|_| ask());
    let counted: AllocationInfo = measure(|| (0..100).for_each(|_| ask()));
    counted.count_total / 100
}

#[test]
fn an_echo_takes_few_allocations_however_many_tools_there_are() {
    for (handshake, limit) in [(true, 20), (false, 25)] {
        let few = allocations_per_call(1, handshake);
        let many = allocations_per_call(1000, handshake);
        assert!(few <= limit, "{few} allocations");
        assert_eq!(few, many, "for one tool and for a thousand");
    }
}

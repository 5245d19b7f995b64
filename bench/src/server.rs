//! The server that all clients call: canned answers, found by a borrowed scan.

use std::io::Write as _;

use bowline::transport::MemoryListener;
use bowline_proto::jsonrpc::{Envelope, RequestId, scan};
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

/// What the only tool answers.
pub const TEXT: &str = "The quick brown fox jumps over the lazy dog.";

const INITIALIZE: &[u8] = br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}"#;
const TOOLS: &[u8] = br#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}"#;
const ECHO: &[u8] =
    br#"{"content":[{"type":"text","text":"The quick brown fox jumps over the lazy dog."}]}"#;
const UNKNOWN: &[u8] = br#"{"code":-32601,"message":"Method not found"}"#;

/// Appends the answer to a frame, without a line end. Says whether the frame
/// wanted one.
pub fn answer(frame: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(Envelope::Request { id, method, .. }) = scan(frame) else {
        return false;
    };
    let (member, value) = match method.as_ref() {
        "tools/call" => ("result", ECHO),
        "tools/list" => ("result", TOOLS),
        "initialize" => ("result", INITIALIZE),
        "ping" => ("result", b"{}".as_slice()),
        _ => ("error", UNKNOWN),
    };
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    put_id(&id, out);
    out.extend_from_slice(b",\"");
    out.extend_from_slice(member.as_bytes());
    out.extend_from_slice(b"\":");
    out.extend_from_slice(value);
    out.push(b'}');
    true
}

fn put_id(id: &RequestId, out: &mut Vec<u8>) {
    match id {
        RequestId::Number(number) => match u64::try_from(*number) {
            Ok(number) => write!(out, "{number}").expect("memory takes all"),
            Err(_) => write!(out, "{number}").expect("memory takes all"),
        },
        RequestId::String(text) => {
            serde_json::to_writer(out, &**text).expect("every text is JSON");
        }
    }
}

/// Serves clients over a memory transport.
pub async fn serve_memory(mut listener: MemoryListener) {
    while let Some(mut peer) = listener.accept().await {
        while let Some(frame) = peer.recv().await {
            let mut out = Vec::with_capacity(256);
            if answer(&frame, &mut out) && !peer.send_frame(Bytes::from(out)).await {
                break;
            }
        }
    }
}

/// Serves a client over a duplex stream, which is as near to memory as a client
/// comes that knows byte streams only.
pub async fn serve_duplex(stream: DuplexStream) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    let (mut line, mut out) = (Vec::new(), Vec::new());
    while reader
        .read_until(b'\n', &mut line)
        .await
        .is_ok_and(|n| n > 0)
    {
        if answer(&line, &mut out) {
            out.push(b'\n');
        }
        line.clear();
        if !reader.buffer().contains(&b'\n') {
            if writer.write_all(&out).await.is_err() {
                return;
            }
            out.clear();
        }
    }
}

//! A server that only knows who asked, and sends bytes that were ready before.

use serde::Deserialize;
use tokio::io::DuplexStream;

use super::lines::Lines;
use crate::Failure;

const OPENED: &[u8] = br#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1.0.0"}}}
"#;

const UNKNOWN: &[u8] = br#","error":{"code":-32601,"message":"Method not found"}}
"#;

#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<u64>,
    method: &'a str,
}

/// The server's end of a pipe.
pub(crate) struct Answering {
    lines: Lines,
}

impl Answering {
    /// Over this end.
    pub(crate) fn new(end: DuplexStream) -> Self {
        Self {
            lines: Lines::new(end),
        }
    }

    /// The id of the next request about tools; none once the client is gone.
    /// What opens a connection is answered here.
    pub(crate) async fn asked(&mut self) -> Result<Option<u64>, Failure> {
        loop {
            let line = self.lines.next().await?;
            if line.is_empty() {
                return Ok(None);
            }
            let envelope: Envelope<'_> =
                serde_json::from_slice(line).map_err(|error| error.to_string())?;
            let opening = match envelope.method {
                "initialize" => OPENED,
                method if method.starts_with("tools/") => return Ok(envelope.id),
                _ => UNKNOWN,
            };
            if let Some(id) = envelope.id {
                self.answer(id, opening).await?;
            }
        }
    }

    /// Answers: `rest` is all that follows the id, to the end of the line.
    pub(crate) async fn answer(&mut self, id: u64, rest: &[u8]) -> Result<(), Failure> {
        let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}");
        self.lines.send(start.as_bytes()).await?;
        self.lines.send(rest).await
    }
}

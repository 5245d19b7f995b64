//! A client that only reads bytes.

use std::fmt::Write as _;

use tokio::io::DuplexStream;

use super::lines::Lines;
use crate::Failure;

const OPEN: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1.0.0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// As far as this from either end of an answer a cursor may be.
const NEAR: usize = 200;

/// The client's end of a pipe.
pub(crate) struct Asking {
    lines: Lines,
    frame: String,
    last: u64,
}

impl Asking {
    /// Opens a connection over this end.
    pub(crate) async fn open(end: DuplexStream) -> Result<Self, Failure> {
        let mut lines = Lines::new(end);
        lines.send(OPEN).await?;
        let opened = lines.next().await?;
        match contains(opened, b"\"serverInfo\"") {
            true => Ok(Self {
                lines,
                frame: String::new(),
                last: 0,
            }),
            false => Err(String::from_utf8_lossy(opened).into_owned()),
        }
    }

    /// Calls a tool with 100 bytes of text that it must return, and sees that
    /// as many came back.
    pub(crate) async fn call(&mut self, tool: &str, text: &str) -> Result<(), Failure> {
        let arguments = format_args!("{{\"text\":\"{text}\",\"count\":3}}");
        let params = format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}}}");
        let answer = self.ask("tools/call", &params).await?;
        match contains(answer, text.as_bytes()) {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(answer).into_owned()),
        }
    }

    /// Has all pages of the list of tools sent, and says how many bytes they
    /// were.
    pub(crate) async fn list(&mut self) -> Result<usize, Failure> {
        let mut bytes = 0;
        let mut params = "{}".to_owned();
        loop {
            let page = self.ask("tools/list", &params).await?;
            bytes += page.len();
            match cursor(page) {
                Some(cursor) => params = format!("{{\"cursor\":\"{cursor}\"}}"),
                None => return Ok(bytes),
            }
        }
    }

    async fn ask(&mut self, method: &str, params: &str) -> Result<&[u8], Failure> {
        self.last += 1;
        let id = self.last;
        self.frame.clear();
        let written = writeln!(
            self.frame,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        );
        written.map_err(|error| error.to_string())?;
        self.lines.send(self.frame.as_bytes()).await?;
        let answer = self.lines.next().await?;
        match contains(&answer[..answer.len().min(NEAR)], b"\"error\":") || answer.is_empty() {
            true => Err(String::from_utf8_lossy(answer).into_owned()),
            false => Ok(answer),
        }
    }
}

/// The cursor of the next page, which stands before or after the tools.
fn cursor(page: &[u8]) -> Option<&str> {
    const NAME: &[u8] = b"\"nextCursor\":\"";
    let ends = [
        &page[..page.len().min(NEAR)],
        &page[page.len().saturating_sub(NEAR)..],
    ];
    ends.into_iter().find_map(|end| {
        let start = end.windows(NAME.len()).position(|part| part == NAME)? + NAME.len();
        let length = end[start..].iter().position(|byte| *byte == b'"')?;
        std::str::from_utf8(&end[start..start + length]).ok()
    })
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

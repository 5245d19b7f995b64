//! The end of a pipe that knows lines and nothing else.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use crate::Failure;

/// Read so much at once.
const READ: usize = 256 * 1024;

/// One end of a pipe.
pub(crate) struct Lines {
    end: BufReader<DuplexStream>,
    line: Vec<u8>,
}

impl Lines {
    /// Over this end.
    pub(crate) fn new(end: DuplexStream) -> Self {
        Self {
            end: BufReader::with_capacity(READ, end),
            line: Vec::new(),
        }
    }

    /// The next line, with its end; empty once there are no more.
    pub(crate) async fn next(&mut self) -> Result<&[u8], Failure> {
        self.line.clear();
        let read = self.end.read_until(b'\n', &mut self.line).await;
        read.map_err(|error| error.to_string())?;
        Ok(&self.line)
    }

    /// Sends bytes as they are.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.end.write_all(bytes).await;
        written.map_err(|error| error.to_string())
    }
}

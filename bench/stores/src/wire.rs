//! HTTP over a plain socket: as little as possible, so that what is measured is
//! the server.

use std::{
    io::{BufRead as _, BufReader, Error, ErrorKind, Read as _, Result, Write as _},
    net::TcpStream,
    time::Duration,
};

/// A connection to a server, and the last answer.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        // A server that hangs must not hang us.
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(Self {
            stream: BufReader::new(stream),
            line: String::new(),
            body: Vec::new(),
        })
    }

    /// Sends a request that is complete but for its body, and returns the body of
    /// the answer.
    pub(crate) fn post(&mut self, head: &str, body: &str) -> Result<&str> {
        let text = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        self.stream.get_mut().write_all(text.as_bytes())?;
        self.read_line()?;
        if !self.line.starts_with("HTTP/1.1 200") {
            return Err(Error::other(format!("not a success: {}", self.line)));
        }
        let mut length = None;
        loop {
            self.read_line()?;
            if self.line.is_empty() {
                break;
            }
            if let Some((name, value)) = self.line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok();
            }
        }
        let length = length.ok_or_else(|| Error::other("the answer has no length"))?;
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body)?;
        std::str::from_utf8(&self.body).map_err(Error::other)
    }

    fn read_line(&mut self) -> Result<()> {
        self.line.clear();
        if self.stream.read_line(&mut self.line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.line.truncate(self.line.trim_end().len());
        Ok(())
    }
}

//! HTTP over a plain socket: as much as is needed to open sessions and streams,
//! and to look at an answer.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use super::ask::Ask;
use crate::Failure;

/// A connection to a server.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

/// An answer: all of it, or of a stream what was read so far.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(&**value))
    }

    /// The answer, if this is its status.
    pub(crate) fn expect(self, status: u16) -> Result<Self, Failure> {
        match self.status == status {
            true => Ok(self),
            false => Err(format!("{status} was expected, not {self:?}")),
        }
    }
}

impl Connection {
    pub(crate) fn open(host: &str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(host).map_err(|error| error.to_string())?;
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        // A server that hangs must not hang us.
        let patience = Some(Duration::from_secs(20));
        stream
            .set_read_timeout(patience)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            // What is read is small, and there may be thousands.
            stream: BufReader::with_capacity(2048, stream),
            host: host.to_owned(),
        })
    }

    /// Sends a request, and reads the whole answer.
    pub(crate) fn ask(&mut self, ask: &Ask) -> Result<Answer, Failure> {
        self.exchange(ask, false)
            .map_err(|error| format!("{}: {error}", self.host))
    }

    /// Sends a request that is answered with a stream, and reads its first
    /// event if there is one to come.
    pub(crate) fn listen(&mut self, ask: &Ask, wait: bool) -> Result<Answer, Failure> {
        let answer = match wait {
            true => self.exchange(ask, true),
            false => self.send(ask).and_then(|()| self.head()),
        };
        answer.map_err(|error| format!("{}: {error}", self.host))
    }

    fn exchange(&mut self, ask: &Ask, one_chunk: bool) -> std::io::Result<Answer> {
        self.send(ask)?;
        let mut answer = self.head()?;
        let length = answer
            .header("content-length")
            .and_then(|text| text.parse().ok());
        let body = match length {
            Some(length) => self.take(length)?,
            None if answer.header("transfer-encoding").is_some() => self.chunks(one_chunk)?,
            None => Vec::new(),
        };
        answer.body = String::from_utf8_lossy(&body).into_owned();
        Ok(answer)
    }

    fn send(&mut self, ask: &Ask) -> std::io::Result<()> {
        let mut text = format!("{} /mcp HTTP/1.1\r\nHost: {}\r\n", ask.method, self.host);
        for (name, value) in &ask.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!(
            "Content-Length: {}\r\n\r\n{}",
            ask.body.len(),
            ask.body
        ));
        self.stream.get_mut().write_all(text.as_bytes())
    }

    fn head(&mut self) -> std::io::Result<Answer> {
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|text| text.parse().ok());
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            match line.split_once(':') {
                Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
                None => break,
            }
        }
        Ok(Answer {
            status: status.unwrap_or_default(),
            headers,
            body: String::new(),
        })
    }

    fn chunks(&mut self, only_one: bool) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let length = self.line()?;
            let length = usize::from_str_radix(length.trim(), 16).unwrap_or_default();
            let chunk = self.take(length)?;
            self.line()?;
            body.extend(chunk);
            if length == 0 || only_one {
                return Ok(body);
            }
        }
    }

    fn take(&mut self, length: usize) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

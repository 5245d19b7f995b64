//! The least that is possible: a blocking client that decodes nothing.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use crate::clients::sibling;

/// The server, and the pipes to it.
#[derive(Debug)]
pub struct Raw {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
    out: Vec<u8>,
    line: Vec<u8>,
}

impl Raw {
    /// Starts the server. There is no handshake: it does not insist.
    #[must_use]
    pub fn start() -> Self {
        let mut child = Command::new(sibling("raw_server"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = pipes else {
            unreachable!("both were asked for");
        };
        Self {
            child,
            input,
            output: BufReader::with_capacity(64 * 1024, output),
            id: 0,
            out: Vec::new(),
            line: Vec::new(),
        }
    }

    /// One call, and its answer.
    pub fn call(&mut self) {
        self.put();
        self.send();
        self.receive();
    }

    /// So many calls, with so many in flight.
    pub fn pipelined(&mut self, width: usize, calls: usize) {
        let width = width.min(calls);
        (0..width).for_each(|_| self.put());
        self.send();
        let mut left = calls - width;
        for _ in 0..calls {
            self.receive();
            if left > 0 {
                left -= 1;
                self.put();
            }
            if !self.output.buffer().contains(&b'\n') {
                self.send();
            }
        }
    }

    /// Ends the server.
    pub fn close(mut self) {
        drop(self.input);
        let _ = self.output.read_to_end(&mut self.line);
        let _ = self.child.wait();
    }

    fn put(&mut self) {
        self.id += 1;
        let id = self.id;
        writeln!(
            self.out,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{}"}}}}}}"#,
            crate::server::TEXT,
        )
        .expect("memory takes all");
    }

    fn send(&mut self) {
        self.input.write_all(&self.out).expect("the server reads");
        self.out.clear();
    }

    fn receive(&mut self) {
        self.line.clear();
        let read = self.output.read_until(b'\n', &mut self.line);
        assert!(read.is_ok_and(|read| read > 0), "the server answers");
    }
}

//! A server in a process of its own, and what it uses.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, ChildStdin, Command, Stdio},
    thread::park_timeout,
    time::{Duration, Instant},
};

use crate::{Failure, figure::Who, process::Process, program::contender};

/// A server that runs until this is dropped.
pub(crate) struct Served {
    child: Child,
    /// It ends when this closes.
    input: Option<ChildStdin>,
    address: String,
}

impl Served {
    /// Starts the HTTP server of one of the contenders.
    pub(crate) fn start(who: Who) -> Result<Self, Failure> {
        Self::run(contender(&["http", "serve", name(who)])?)
    }

    /// Starts a server that says its address, and ends when its input does.
    pub(crate) fn run(mut command: Command) -> Result<Self, Failure> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        // From here on it is ended, whatever happens.
        let mut served = Self {
            child,
            input,
            address: String::new(),
        };
        let output = output.ok_or("the server has no output")?;
        let read = BufReader::new(output).read_line(&mut served.address);
        read.map_err(|error| error.to_string())?;
        served.address.truncate(served.address.trim_end().len());
        match served.address.is_empty() {
            true => Err(format!("{command:?} says no address")),
            false => Ok(served),
        }
    }

    /// Lets it come to its end by itself.
    pub(crate) fn end(mut self) -> Result<(), Failure> {
        drop(self.input.take());
        match self.child.wait().map_err(|error| error.to_string())? {
            status if status.success() => Ok(()),
            status => Err(format!("the server ended with {status}")),
        }
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Where it speaks the protocol.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// What the system knows about it.
    pub(crate) fn process(&self) -> Process {
        Process(self.child.id())
    }

    /// Its time on processors.
    pub(super) fn processor_time(&self) -> Result<Duration, Failure> {
        self.process().processor_time()
    }

    /// The bytes that are resident, once they neither grow nor shrink.
    pub(crate) fn settled_memory(&self) -> Result<f64, Failure> {
        let until = Instant::now() + Duration::from_secs(2);
        let mut before = self.process().memory()?;
        let mut steady = 0;
        while steady < 2 && Instant::now() < until {
            park_timeout(Duration::from_millis(30));
            let now = self.process().memory()?;
            steady = if now == before { steady + 1 } else { 0 };
            before = now;
        }
        Ok(before)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It holds nothing that would have to be put away.
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the contender is called on the command line.
pub(crate) fn name(who: Who) -> &'static str {
    match who {
        Who::Ours => "ours",
        Who::Rmcp => "rmcp",
        Who::RmcpTuned => "rmcp-tuned",
        Who::Jsonschema | Who::Limit | Who::Bare => "limit",
    }
}

//! A server in a process of its own, and what it uses.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    thread::park_timeout,
    time::{Duration, Instant},
};

use crate::{Failure, figure::Who, program::contender};

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

    /// Its time on processors, over all threads that still run. Those of a
    /// runtime all do.
    pub(super) fn processor_time(&self) -> Result<Duration, Failure> {
        let threads = fs::read_dir(self.proc("task")).map_err(|error| error.to_string())?;
        let mut nanoseconds = 0;
        for thread in threads {
            let path = thread.map_err(|error| error.to_string())?.path();
            // One that ends meanwhile is not there any more.
            let Ok(text) = fs::read_to_string(path.join("schedstat")) else {
                continue;
            };
            let first = text.split_whitespace().next().unwrap_or_default();
            nanoseconds += first.parse::<u64>().map_err(|error| error.to_string())?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// The bytes that are resident, once they neither grow nor shrink.
    pub(super) fn settled_memory(&self) -> Result<f64, Failure> {
        let until = Instant::now() + Duration::from_secs(2);
        let mut before = self.memory()?;
        let mut steady = 0;
        while steady < 2 && Instant::now() < until {
            park_timeout(Duration::from_millis(30));
            let now = self.memory()?;
            steady = if now == before { steady + 1 } else { 0 };
            before = now;
        }
        Ok(before)
    }

    fn memory(&self) -> Result<f64, Failure> {
        let text = fs::read_to_string(self.proc("status")).map_err(|error| error.to_string())?;
        let mut lines = text.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kilobytes = kilobytes.and_then(|number| number.trim().parse::<f64>().ok());
        let kilobytes = kilobytes.ok_or("the system does not say how much memory is resident")?;
        Ok(kilobytes * 1024.0)
    }

    fn proc(&self, what: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{what}", self.child.id()))
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

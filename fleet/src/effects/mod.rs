//! The process that sees all effects and writes them down: the only witness.
//!
//! It accepts everything, twice too, since it is to see what the nodes do. The exception
//! are keys that were settled: a service that is asked whether a step has happened, and
//! says no, must not do it afterwards.

mod connection;
mod log;

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

pub(crate) use connection::EffectsConnections;
pub use log::{Effect, LogLine};
use log::{Request, Response};

/// The first effect of a conversation with this prefix in this step is not acknowledged:
/// its node waits in the step, until it is killed.
pub(crate) const HELD_PREFIX: &str = "held-";
pub(crate) const HELD_STEP: &str = "charge";

struct Witness {
    file: File,
    next: u64,
    by_key: HashMap<String, u64>,
    settled: HashSet<String>,
    held: HashSet<String>,
}

/// What the node is told.
enum Verdict {
    Respond(Response),
    /// Nothing at all.
    Hold,
}

/// Serves until the process ends. Prints the address first, and then each effect that is
/// held.
///
/// # Errors
///
/// Returns an error if the log cannot be written, or the port cannot be used.
pub async fn serve(port: u16, log: &Path) -> io::Result<()> {
    let witness = Witness {
        file: File::create(log)?,
        next: 1,
        by_key: HashMap::new(),
        settled: HashSet::new(),
        held: HashSet::new(),
    };
    let witness = Arc::new(Mutex::new(witness));
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let witness = Arc::clone(&witness);
        // A node that dies leaves its connection.
        tokio::spawn(async move { serve_node(stream, &witness).await });
    }
}

async fn serve_node(stream: TcpStream, witness: &Mutex<Witness>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reading, mut writing) = stream.into_split();
    let mut lines = BufReader::new(reading).lines();
    while let Some(line) = lines.next_line().await? {
        let request: Request = serde_json::from_str(&line)?;
        let verdict = witness
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .judge(request)?;
        if let Verdict::Respond(response) = verdict {
            let response = format!("{}\n", serde_json::to_string(&response)?);
            writing.write_all(response.as_bytes()).await?;
        }
    }
    Ok(())
}

impl Witness {
    fn judge(&mut self, request: Request) -> io::Result<Verdict> {
        let effect = match request {
            Request::Perform(effect) => effect,
            Request::Settle(key) => {
                let happened = self.by_key.get(&key).copied();
                if happened.is_none() {
                    self.settled.insert(key);
                }
                return Ok(Verdict::Respond(happened));
            }
        };
        if self.settled.contains(&effect.key) {
            self.write(&LogLine::Rejected { effect })?;
            return Ok(Verdict::Respond(None));
        }
        let id = self.next;
        self.next += 1;
        let line = LogLine::Happened { id, effect };
        self.write(&line)?;
        let LogLine::Happened { effect, .. } = line else {
            return Ok(Verdict::Respond(None));
        };
        let is_held = effect.conversation.starts_with(HELD_PREFIX)
            && effect.step == HELD_STEP
            && self.held.insert(effect.conversation.clone());
        if is_held {
            writeln!(io::stdout(), "{}", serde_json::to_string(&effect)?)?;
        }
        self.by_key.insert(effect.key, id);
        Ok(match is_held {
            true => Verdict::Hold,
            false => Verdict::Respond(Some(id)),
        })
    }

    /// In one write, before anyone is told.
    fn write(&mut self, line: &LogLine) -> io::Result<()> {
        let line = format!("{}\n", serde_json::to_string(line)?);
        self.file.write_all(line.as_bytes())
    }
}

/// Reads a log.
///
/// # Errors
///
/// Returns an error if it cannot be read or a line is not one of a log.
pub fn read_log(path: &Path) -> io::Result<Vec<LogLine>> {
    let text = std::fs::read_to_string(path)?;
    text.lines()
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}

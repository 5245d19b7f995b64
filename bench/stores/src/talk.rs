//! `talk`: calls that ask, answered one after the other on each connection.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{Failure, wire::Connection};

/// What is said there and back: 100 bytes.
const TEXT: &str = "0123456789012345678901234567890123456789012345678901234567890123456789\
                    012345678901234567890123456789";

/// Makes so many calls of a tool, and prints what they took.
pub(crate) fn run(address: &str, tool: &str, times: &str, width: &str) -> Result<(), Failure> {
    let number = |text: &str| text.parse::<usize>().map_err(|_| format!("{text:?}?"));
    let (times, width) = (number(times)?, number(width)?.max(1));
    let talk = Talk::new(address, tool);
    let began = Instant::now();
    let lanes: Result<Vec<_>, Failure> = thread::scope(|scope| {
        let lane = || scope.spawn(|| talk.lane(times.div_ceil(width)));
        let lanes: Vec<_> = (0..width).map(|_| lane()).collect();
        let join = |lane: thread::ScopedJoinHandle<'_, _>| lane.join();
        let ended = lanes.into_iter().map(join);
        ended.map(|it| it.map_err(|_| "a lane panicked")?).collect()
    });
    let took = began.elapsed();
    let mut each = lanes?.concat();
    each.sort_unstable();
    let middle = each.get(each.len() / 2).copied().unwrap_or_default();
    let measured = json!({
        "calls": each.len(),
        "rate": each.len() as f64 / took.as_secs_f64(),
        "p50_us": middle.as_secs_f64() * 1e6,
    });
    println!("{measured}");
    Ok(())
}

/// The requests of one call: text that is the same each time.
struct Talk {
    address: String,
    head: String,
    first: String,
    /// What comes before and after the state.
    second: [String; 2],
    asks: bool,
}

impl Talk {
    fn new(address: &str, tool: &str) -> Self {
        let version = "2026-07-28";
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: {version}\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        );
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        });
        let request = |params: &Value| {
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
        };
        let mut params = json!({"name": tool, "arguments": {"message": TEXT}, "_meta": meta});
        let first = request(&params);
        params["inputResponses"] = json!({
            "name": {"action": "accept", "content": {"name": "Ada"}},
        });
        params["requestState"] = json!("@");
        let second = request(&params);
        let (before, after) = second.split_once('@').unwrap_or_default();
        Self {
            address: address.to_owned(),
            head,
            first,
            second: [before.to_owned(), after.to_owned()],
            asks: tool != "echo",
        }
    }

    /// Makes calls on one connection, and says how long each took.
    fn lane(&self, times: usize) -> Result<Vec<Duration>, Failure> {
        let connection = Connection::open(&self.address);
        let mut connection = connection.map_err(|error| error.to_string())?;
        let mut took = Vec::with_capacity(times);
        for _ in 0..times {
            let began = Instant::now();
            self.call(&mut connection)?;
            took.push(began.elapsed());
        }
        Ok(took)
    }

    fn call(&self, connection: &mut Connection) -> Result<(), Failure> {
        let mut answer = connection
            .post(&self.head, &self.first)
            .map_err(|error| error.to_string())?;
        if self.asks {
            let state = member(answer, "requestState");
            let state = state.ok_or_else(|| format!("nothing is asked: {answer}"))?;
            let [before, after] = &self.second;
            let body = [before, state, after].concat();
            answer = connection
                .post(&self.head, &body)
                .map_err(|error| error.to_string())?;
        }
        match answer.contains(TEXT) && !answer.contains("requestState") {
            true => Ok(()),
            false => Err(format!("not the answer: {answer}")),
        }
    }
}

/// The text of a member, in which nothing is escaped.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!("\"{name}\":\""))?;
    Some(rest.split_once('"')?.0)
}

//! A hostile server on the standard streams with one fault, chosen by its seed.

use std::{
    io::{self, BufRead as _, Write as _},
    process, thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    figures::Chance,
    pace::{HOSTILE_SHARE, Pace},
    under_servers::{PIPES, WAYS},
};

/// The fault.
#[derive(Clone, Copy, Debug)]
enum Trick {
    SilentOpening,
    EndlessCursors,
    SameToolsAgain,
    HugePages,
    TinyItems,
    PaddedEnvelopes,
    LoopingQuestions,
    LoopingRounds,
    ProgressFlood,
    OversizeAnswer,
    Stall,
    Die,
    Garbage,
    NewsFlood,
    StderrFlood,
    QuestionFlood,
    DeafToTheEnd,
    StrangerAnswers,
    Deep,
}

const TRICKS: [Trick; 19] = [
    Trick::SilentOpening,
    Trick::EndlessCursors,
    Trick::SameToolsAgain,
    Trick::HugePages,
    Trick::TinyItems,
    Trick::PaddedEnvelopes,
    Trick::LoopingQuestions,
    Trick::LoopingRounds,
    Trick::ProgressFlood,
    Trick::OversizeAnswer,
    Trick::Stall,
    Trick::Die,
    Trick::Garbage,
    Trick::NewsFlood,
    Trick::StderrFlood,
    Trick::QuestionFlood,
    Trick::DeafToTheEnd,
    Trick::StrangerAnswers,
    Trick::Deep,
];

/// The size of a flood: enough to hurt a client that keeps it, and soon over.
const FLOOD: usize = 20_000;
/// How many lines are written between two checks of the pace.
const LINES_PER_REST: usize = 200;
/// Almost the maximum size of a frame.
pub(crate) const LARGE: usize = 900_000;

/// Serves until the client disconnects.
pub(crate) fn run(seed: u64) -> io::Result<()> {
    let trick = *Chance::new(seed).of(&TRICKS);
    let mut server = Server {
        out: io::stdout().lock(),
        trick,
        pages: 0,
        questions: 0,
        lines: 0,
        // The HTTP servers share one process.
        pace: Pace::new(HOSTILE_SHARE / WAYS / PIPES as f64),
    };
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?).unwrap_or_default();
        server.hear(&message)?;
    }
    if let Trick::DeafToTheEnd = trick {
        thread::park_timeout(Duration::from_secs(60));
    }
    Ok(())
}

struct Server {
    out: io::StdoutLock<'static>,
    trick: Trick,
    pages: usize,
    questions: u64,
    lines: usize,
    pace: Pace,
}

impl Server {
    fn hear(&mut self, message: &Value) -> io::Result<()> {
        let id = &message["id"];
        match (message["method"].as_str(), self.trick) {
            (Some(_), Trick::SilentOpening) => Ok(()),
            (Some("server/discover"), Trick::LoopingRounds) => self.answer(
                id,
                &json!({
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}},
                    "ttlMs": 0,
                    "cacheScope": "private",
                }),
            ),
            // Every answer causes the next question.
            (None, Trick::LoopingQuestions) => self.question(),
            (method, _) => self.request(method, message),
        }
    }

    fn request(&mut self, method: Option<&str>, message: &Value) -> io::Result<()> {
        let id = &message["id"];
        match method {
            Some("initialize") => self.answer(
                id,
                &json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}, "logging": {}},
                    "serverInfo": {"name": "hostile", "version": "1"},
                }),
            ),
            Some("tools/list") => self.list(id),
            Some("tools/call") => self.call(message),
            Some(_) if !id.is_null() => self.refuse(id),
            _ => Ok(()),
        }
    }

    fn list(&mut self, id: &Value) -> io::Result<()> {
        self.pages += 1;
        let page = self.pages;
        let tool = |name: String| json!({"name": name, "inputSchema": {"type": "object"}});
        let result = match self.trick {
            Trick::EndlessCursors => {
                json!({"tools": [tool(format!("t{page}"))], "nextCursor": format!("c{page}")})
            }
            Trick::SameToolsAgain => {
                json!({"tools": [tool("t".to_owned())], "nextCursor": format!("c{page}")})
            }
            Trick::HugePages => {
                let tools: Vec<_> = (0..LARGE / 60)
                    .map(|n| tool(format!("t{page}-{n}")))
                    .collect();
                json!({"tools": tools, "nextCursor": format!("c{page}")})
            }
            Trick::TinyItems => return self.tiny_items(id),
            _ => json!({"tools": [tool("t".to_owned())]}),
        };
        self.answer(id, &result)
    }

    /// Sends a page of as many items as fit, none of which is a valid tool.
    fn tiny_items(&mut self, id: &Value) -> io::Result<()> {
        let items = "{},".repeat(LARGE / 3);
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{items}{{}}]}}}}"#);
        self.line(frame.as_bytes())
    }

    fn call(&mut self, message: &Value) -> io::Result<()> {
        let id = &message["id"];
        match self.trick {
            Trick::ProgressFlood => self.progress(&message["params"]["_meta"]["progressToken"])?,
            Trick::OversizeAnswer => return self.answer(id, &said(&"x".repeat(3_000_000))),
            Trick::Stall => return Ok(()),
            Trick::Die => process::exit(3),
            Trick::Garbage => self.garbage()?,
            Trick::NewsFlood => self.news()?,
            Trick::StderrFlood => io::stderr().write_all("complaint\n".repeat(FLOOD).as_bytes())?,
            Trick::QuestionFlood => self.questions()?,
            Trick::StrangerAnswers => self.strangers(id)?,
            Trick::PaddedEnvelopes => self.padded()?,
            // It is never answered itself.
            Trick::LoopingQuestions => return self.question(),
            Trick::LoopingRounds => return self.round(id),
            Trick::Deep => {
                let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
                let id = id.to_string();
                let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{open}{close}}}"#);
                return self.line(frame.as_bytes());
            }
            Trick::SilentOpening
            | Trick::EndlessCursors
            | Trick::SameToolsAgain
            | Trick::HugePages
            | Trick::TinyItems
            | Trick::DeafToTheEnd => {}
        }
        self.answer(id, &said("done"))
    }

    /// Sends small messages in large envelopes.
    fn padded(&mut self) -> io::Result<()> {
        let padding = "x".repeat(LARGE);
        for number in 0..30 {
            let params = json!({"level": "info", "data": number});
            let news = json!({"jsonrpc": "2.0", "padding": padding, "method": "notifications/message", "params": params});
            self.line(news.to_string().as_bytes())?;
            let question = json!({"jsonrpc": "2.0", "padding": padding, "id": number, "method": "elicitation/create", "params": form()});
            self.line(question.to_string().as_bytes())?;
        }
        Ok(())
    }

    fn question(&mut self) -> io::Result<()> {
        self.questions += 1;
        let id = self.questions;
        let question =
            json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form()});
        self.line(question.to_string().as_bytes())
    }

    /// Sends one more round of questions, whatever was answered.
    fn round(&mut self, id: &Value) -> io::Result<()> {
        let question = json!({"method": "elicitation/create", "params": form()});
        let state = "x".repeat(10_000);
        let result = json!({"resultType": "input_required", "inputRequests": {"q": question}, "requestState": state});
        self.answer(id, &result)
    }

    fn progress(&mut self, token: &Value) -> io::Result<()> {
        for step in 0..FLOOD {
            let params = json!({"progressToken": token, "progress": step, "message": "more"});
            self.notify("notifications/progress", &params)?;
        }
        Ok(())
    }

    fn garbage(&mut self) -> io::Result<()> {
        for line in [
            &b"{"[..],
            b"null",
            b"[[[[",
            b"\xff\xfe\x00",
            b"{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":1}",
            b"{\"jsonrpc\":\"2.0\",\"id\":1e999,\"result\":{}}",
        ] {
            self.line(line)?;
        }
        Ok(())
    }

    fn news(&mut self) -> io::Result<()> {
        for _ in 0..FLOOD / 2 {
            self.notify("notifications/tools/list_changed", &json!({}))?;
            let params = json!({"level": "info", "data": "x".repeat(200)});
            self.notify("notifications/message", &params)?;
        }
        Ok(())
    }

    fn questions(&mut self) -> io::Result<()> {
        for number in 0..FLOOD / 10 {
            let question = json!({"jsonrpc": "2.0", "id": number, "method": "roots/list"});
            self.line(question.to_string().as_bytes())?;
        }
        Ok(())
    }

    /// Sends responses to unknown requests, and two to the same request.
    fn strangers(&mut self, id: &Value) -> io::Result<()> {
        for stranger in 1_000_000..1_000_500 {
            self.answer(&json!(stranger), &said("not yours"))?;
        }
        self.answer(&json!(id.to_string()), &said("not yours either"))
    }

    fn answer(&mut self, id: &Value, result: &Value) -> io::Result<()> {
        let frame = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.line(frame.to_string().as_bytes())
    }

    fn refuse(&mut self, id: &Value) -> io::Result<()> {
        let error = json!({"code": -32601, "message": "method not found"});
        let frame = json!({"jsonrpc": "2.0", "id": id, "error": error});
        self.line(frame.to_string().as_bytes())
    }

    fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.line(frame.to_string().as_bytes())
    }

    fn line(&mut self, frame: &[u8]) -> io::Result<()> {
        self.lines += 1 + frame.len() / 1000;
        if self.lines > LINES_PER_REST {
            self.lines = 0;
            self.pace.rest();
        }
        self.out.write_all(frame)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// Returns a form.
fn form() -> Value {
    let schema = json!({"type": "object", "properties": {"more": {"type": "boolean"}}});
    json!({"message": "And?", "requestedSchema": schema})
}

/// Returns a tool result with this text.
pub(crate) fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

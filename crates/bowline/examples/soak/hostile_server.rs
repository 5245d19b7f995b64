//! A server on the standard streams that does one wrong thing, chosen by its
//! seed.

use std::{
    io::{self, BufRead as _, Write as _},
    process, thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::figures::Chance;

/// What it does wrong.
#[derive(Clone, Copy, Debug)]
enum Trick {
    EndlessCursors,
    SameToolsAgain,
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

const TRICKS: [Trick; 13] = [
    Trick::EndlessCursors,
    Trick::SameToolsAgain,
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

/// How much a flood has: enough to hurt whoever keeps it, and soon over.
const FLOOD: usize = 20_000;

/// Serves until the other end has enough.
pub(crate) fn run(seed: u64) -> io::Result<()> {
    let trick = *Chance::new(seed).of(&TRICKS);
    let mut server = Server {
        out: io::stdout().lock(),
        trick,
        pages: 0,
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
}

impl Server {
    fn hear(&mut self, message: &Value) -> io::Result<()> {
        let id = &message["id"];
        match message["method"].as_str() {
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
            _ => json!({"tools": [tool("t".to_owned())]}),
        };
        self.answer(id, &result)
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
            Trick::Deep => {
                let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
                let id = id.to_string();
                let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{open}{close}}}"#);
                return self.line(frame.as_bytes());
            }
            Trick::EndlessCursors | Trick::SameToolsAgain | Trick::DeafToTheEnd => {}
        }
        self.answer(id, &said("done"))
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

    /// Answers to what was never asked, and to the same twice.
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
        let error = json!({"code": -32601, "message": "no such method"});
        let frame = json!({"jsonrpc": "2.0", "id": id, "error": error});
        self.line(frame.to_string().as_bytes())
    }

    fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.line(frame.to_string().as_bytes())
    }

    fn line(&mut self, frame: &[u8]) -> io::Result<()> {
        self.out.write_all(frame)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// The result of a tool that says something.
pub(crate) fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

//! Serving over HTTP, under wrk.

mod ask;
mod memory;
mod served;
mod socket;
mod wrk;

use std::time::Duration;

pub(crate) use ask::{Ask, TEXT};
pub(crate) use memory::group as memory;
pub(crate) use served::{Served, name};
pub(crate) use socket::Connection;

use crate::{
    Failure,
    figure::{
        Better::{Less, More},
        Figure, Target, Who,
    },
    group::{Contender, Group, Measured, Scale},
};

/// Requests per second, latency and processor time, of each kind of request.
pub(crate) fn group() -> Group {
    let contender = |who| Contender {
        who,
        measure: Box::new(move |scale| measure(who, scale)),
    };
    Group {
        name: "http-server",
        about: "Calls of a tool that echoes 100 bytes, under wrk on one thread, over 64 \
                connections and over one. The baseline is bare hyper: it finds the number and the \
                tool in the body, and answers the bytes that ours answers. rmcp as shown answers \
                every call with a stream, also where one JSON text would do, on sockets that \
                hold the rest back until the client acknowledges, which takes up to 40 ms; tuned \
                it answers with JSON outside of sessions, always with a stream within them, and \
                its sockets hold nothing back. Sessions are as many as connections. CPU is the \
                server's.",
        figures: FIGURES,
        contenders: [Who::Ours, Who::Rmcp, Who::RmcpTuned, Who::Limit]
            .map(contender)
            .into(),
        once: false,
    }
}

/// The three figures of a kind of request, over so many connections.
macro_rules! figures {
    ($($case:literal, $title:literal, $targets:expr;)*) => {
        &[$(
            Figure {
                id: concat!("http-server.", $case, ".rate"),
                title: $title,
                unit: "requests/s",
                better: More,
                targets: $targets,
            },
            Figure {
                id: concat!("http-server.", $case, ".p50"),
                title: concat!($title, ": median latency"),
                unit: "µs",
                better: Less,
                targets: &[],
            },
            Figure {
                id: concat!("http-server.", $case, ".cpu"),
                title: concat!($title, ": CPU per request"),
                unit: "µs",
                better: Less,
                targets: &[],
            },
        )*]
    };
}

const FIGURES: &[Figure] = figures![
    "json.64", "2026-07-28, JSON, 64 connections", &[Target::OfLimit(0.8)];
    "json.1", "2026-07-28, JSON, 1 connection", &[];
    "stream.64", "2026-07-28, stream with progress, 64 connections", &[];
    "stream.1", "2026-07-28, stream with progress, 1 connection", &[];
    "session.64", "2025-11-25, session, 64 connections", &[];
    "session-stream.64", "2025-11-25, session, stream with progress, 64 connections",
        &[Target::OfLimit(0.7)];
    "session-stream.1", "2025-11-25, session, stream with progress, 1 connection", &[];
];

/// A kind of request.
struct Case {
    name: &'static str,
    tool: &'static str,
    in_session: bool,
    connections: &'static [usize],
}

const CASES: [Case; 4] = [
    Case {
        name: "json",
        tool: "echo",
        in_session: false,
        connections: &[64, 1],
    },
    Case {
        name: "stream",
        tool: "tell",
        in_session: false,
        connections: &[64, 1],
    },
    Case {
        name: "session",
        tool: "echo",
        in_session: true,
        connections: &[64],
    },
    Case {
        name: "session-stream",
        tool: "tell",
        in_session: true,
        connections: &[64, 1],
    },
];

fn measure(who: Who, scale: Scale) -> Result<Measured, Failure> {
    let served = Served::start(who)?;
    let mut measured = Vec::new();
    for case in &CASES {
        for &connections in case.connections {
            let figures = case.load(&served, connections, scale);
            let figures =
                figures.map_err(|failure| format!("{}, {}: {failure}", name(who), case.name))?;
            measured.extend(figures);
        }
    }
    Ok(measured)
}

impl Case {
    /// Looks at an answer, loads the server, and looks at another.
    fn load(
        &self,
        served: &Served,
        connections: usize,
        scale: Scale,
    ) -> Result<[(String, f64); 3], Failure> {
        // wrk looks at whether it should end every 100 ms.
        let time = Duration::from_millis(match scale {
            Scale::Full => 580,
            Scale::Quick => 80,
        });
        let mut connection = Connection::open(served.address())?;
        let mut sessions = Vec::new();
        if self.in_session {
            for _ in 0..connections {
                sessions.push(open_session(&mut connection)?);
            }
        }
        self.check(&mut connection, &sessions, 1)?;
        // Whatever is slow the first time is done then.
        wrk::run(
            &served.url(),
            &self.ask(),
            &sessions,
            connections,
            time / 10,
        )?;
        let sessions = self.renewed(&mut connection, sessions)?;
        let before = served.processor_time()?;
        let ran = wrk::run(&served.url(), &self.ask(), &sessions, connections, time)?;
        let used = served.processor_time()?.saturating_sub(before);
        self.check(&mut connection, &sessions, 2)?;
        for session in &sessions {
            connection.ask(&Ask::close(session))?;
        }
        let id = |what: &str| format!("http-server.{}.{connections}.{what}", self.name);
        Ok([
            (id("rate"), ran.requests / (ran.microseconds / 1e6)),
            (id("p50"), ran.p50),
            (id("cpu"), used.as_secs_f64() * 1e6 / ran.requests),
        ])
    }

    fn ask(&self) -> Ask {
        match self.in_session {
            true => Ask::session_call(self.tool),
            false => Ask::modern_call(self.tool),
        }
    }

    /// As many sessions, in which no number has been used yet.
    fn renewed(
        &self,
        connection: &mut Connection,
        sessions: Vec<String>,
    ) -> Result<Vec<String>, Failure> {
        let renew = |session: String| {
            connection.ask(&Ask::close(&session))?;
            open_session(connection)
        };
        sessions.into_iter().map(renew).collect()
    }

    /// Whether the answer is what it should be.
    fn check(
        &self,
        connection: &mut Connection,
        sessions: &[String],
        number: u32,
    ) -> Result<(), Failure> {
        let mut ask = self.ask().numbered(number);
        if let Some(session) = sessions.first() {
            ask = ask.of_session(session);
        }
        let answer = connection.ask(&ask)?.expect(200)?;
        let progress = answer.body.contains("notifications/progress");
        match answer.body.contains(TEXT) && progress == (self.tool == "tell") {
            true => Ok(()),
            false => Err(format!("not the answer: {answer:?}")),
        }
    }
}

/// Opens a session, and gives its id.
fn open_session(connection: &mut Connection) -> Result<String, Failure> {
    let answer = connection.ask(&Ask::initialize())?.expect(200)?;
    let session = answer.header("mcp-session-id");
    let session = session.ok_or("there is no session")?.to_owned();
    connection.ask(&Ask::initialized(&session))?.expect(202)?;
    Ok(session)
}

//! What sessions and streams that do nothing keep in memory, and what is left
//! of them when they are gone.

use super::{ask::Ask, open_session, served::Served, socket::Connection};
use crate::{
    Failure,
    figure::{Better::Less, Figure, Target, Who},
    group::{Contender, Group, Measured, Scale},
};

/// Memory per idle session, and per open stream.
pub(crate) fn group() -> Group {
    let contender = |who| Contender {
        who,
        measure: Box::new(move |scale| measure(who, scale)),
    };
    Group {
        name: "http-memory",
        about: "How much the resident memory of a server grows by 1,000 that do nothing, for \
                each of them: sessions of 2025-11-25 with and without the connection that opened \
                them, their streams, and streams of changes of 2026-07-28, which are a \
                connection each. What is left of each when all have gone; and what each adds \
                from the second to the tenth round of 1,000, when all have gone again. 100 came \
                and went before. The baseline is a connection of bare hyper that was used once; what \
                it leaves and adds is the allocator's.",
        figures: FIGURES,
        contenders: [Who::Ours, Who::Rmcp, Who::RmcpTuned, Who::Limit]
            .map(contender)
            .into(),
        once: true,
    }
}

/// The three figures of a kind.
macro_rules! figures {
    ($($kind:literal, $title:literal, $targets:expr;)*) => {
        &[$(
            Figure {
                id: concat!("http-memory.", $kind, ".each"),
                title: concat!($title, ": memory"),
                unit: "bytes",
                better: Less,
                targets: $targets,
            },
            Figure {
                id: concat!("http-memory.", $kind, ".left"),
                title: concat!($title, ": left when it is gone"),
                unit: "bytes",
                better: Less,
                targets: &[],
            },
            Figure {
                id: concat!("http-memory.", $kind, ".growth"),
                title: concat!($title, ": added from round 2 to 10"),
                unit: "bytes",
                better: Less,
                targets: NO_GROWTH,
            },
        )*]
    };
}

/// Far less than one of them. It cannot be nothing: a heap takes some rounds to
/// settle, that of bare hyper too.
const NO_GROWTH: &[Target] = &[Target::AtMost(1024.0)];

const FIGURES: &[Figure] = figures![
    "session", "Idle session with its connection", &[Target::AtMost(16.0 * 1024.0)];
    "alone", "Idle session without a connection", &[Target::AtMost(16.0 * 1024.0)];
    "stream", "Open stream of a session, 2025-11-25", &[];
    "listen", "Open stream of changes, 2026-07-28", &[];
];

/// What is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A session, with the connection that opened it.
    Session,
    /// A session.
    Alone,
    /// The stream of a session, which is open before.
    Stream,
    /// A stream of changes.
    Listen,
    /// A connection on which a call was made.
    Connection,
}

fn measure(who: Who, scale: Scale) -> Result<Measured, Failure> {
    let many = scale.of(1_000);
    let times = match scale {
        Scale::Full => 10,
        Scale::Quick => 3,
    };
    if who == Who::Limit {
        let measured = rounds(who, Kind::Connection, many, times)?;
        let kinds = ["session", "stream", "listen"];
        return Ok(kinds
            .iter()
            .flat_map(|kind| named(kind, measured))
            .collect());
    }
    let kinds = [
        ("session", Kind::Session),
        ("alone", Kind::Alone),
        ("stream", Kind::Stream),
        ("listen", Kind::Listen),
    ];
    let mut all = Vec::new();
    for (name, kind) in kinds {
        let measured = rounds(who, kind, many, times);
        let measured = measured.map_err(|failure| format!("{who:?}, {name}: {failure}"))?;
        all.extend(named(name, measured));
    }
    Ok(all)
}

fn named(kind: &str, [each, left, growth]: [f64; 3]) -> [(String, f64); 3] {
    let id = |what: &str| format!("http-memory.{kind}.{what}");
    [
        (id("each"), each),
        (id("left"), left),
        (id("growth"), growth),
    ]
}

/// Lets many come and go, again and again.
fn rounds(who: Who, kind: Kind, many: usize, times: usize) -> Result<[f64; 3], Failure> {
    let served = Served::start(who)?;
    Held::open(&served, kind, (many / 10).max(1))?.close()?;
    let before = served.settled_memory()?;
    let (mut each, mut left) = (0.0, Vec::new());
    for round in 0..times {
        let mut held = Held::prepare(&served, kind, many)?;
        let empty = match kind {
            Kind::Stream if round == 0 => served.settled_memory()?,
            _ => before,
        };
        held.fill(&served, many)?;
        if round == 0 {
            each = (served.settled_memory()? - empty) / many as f64;
        }
        held.close()?;
        left.push(served.settled_memory()?);
    }
    let growth = (left[times - 1] - left[1]) / ((times - 2) * many) as f64;
    Ok([each, (left[0] - before) / many as f64, growth])
}

/// Many that are open.
struct Held {
    kind: Kind,
    /// For what needs no connection of its own.
    common: Connection,
    connections: Vec<Connection>,
    sessions: Vec<String>,
}

impl Held {
    fn open(served: &Served, kind: Kind, many: usize) -> Result<Self, Failure> {
        let mut held = Self::prepare(served, kind, many)?;
        held.fill(served, many)?;
        Ok(held)
    }

    /// What must be there before, and is not counted.
    fn prepare(served: &Served, kind: Kind, many: usize) -> Result<Self, Failure> {
        let mut held = Self {
            kind,
            common: Connection::open(served.address())?,
            connections: Vec::with_capacity(many),
            sessions: Vec::with_capacity(many),
        };
        if kind == Kind::Stream {
            for _ in 0..many {
                held.sessions.push(open_session(&mut held.common)?);
            }
        }
        Ok(held)
    }

    fn fill(&mut self, served: &Served, many: usize) -> Result<(), Failure> {
        for number in 0..many {
            if self.kind == Kind::Alone {
                self.sessions.push(open_session(&mut self.common)?);
                continue;
            }
            let mut connection = Connection::open(served.address())?;
            match self.kind {
                Kind::Session | Kind::Alone => {
                    self.sessions.push(open_session(&mut connection)?);
                }
                Kind::Stream => {
                    let session = Ask::session_stream(&self.sessions[number]);
                    connection.listen(&session, false)?.expect(200)?;
                }
                Kind::Listen => {
                    let answer = connection
                        .listen(&Ask::modern_listen(), true)?
                        .expect(200)?;
                    if !answer.body.contains("acknowledged") {
                        return Err(format!("not the beginning of a stream: {answer:?}"));
                    }
                }
                Kind::Connection => {
                    connection.ask(&Ask::modern_call("echo"))?.expect(200)?;
                }
            }
            self.connections.push(connection);
        }
        Ok(())
    }

    fn close(mut self) -> Result<(), Failure> {
        self.connections.clear();
        for session in &self.sessions {
            self.common.ask(&Ask::close(session))?;
        }
        Ok(())
    }
}

//! Who is measured.

use tokio::runtime::{Builder, Runtime};

use crate::{
    clients::{Bowline, Caller, Rmcp},
    measure::{self, Plan, Sample},
};

/// A client, with the runtime and the link that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The least that is possible.
    Raw,
    /// One of the two libraries.
    Client(Library, Link, Flavour),
}

/// Whose client it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Ours.
    Bowline,
    /// The official SDK.
    Rmcp,
}

/// How the server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// As a child process, over pipes.
    Child,
    /// As a task of the same runtime, over memory.
    Memory,
}

/// The runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// As many threads as there are cores.
    Multi,
    /// One thread.
    Current,
}

/// Something to do with a client, whichever it is.
pub trait Job {
    /// What comes out.
    type Output;

    /// Does it, and closes the client.
    fn run<C: Caller>(self, runtime: &Runtime, client: C) -> Self::Output;
}

impl Contender {
    /// All, in the order in which they take turns.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Raw];
        for link in [Link::Child, Link::Memory] {
            for flavour in [Flavour::Multi, Flavour::Current] {
                for library in [Library::Bowline, Library::Rmcp] {
                    all.push(Self::Client(library, link, flavour));
                }
            }
        }
        all
    }

    /// The one of the other library to compare this one with.
    #[must_use]
    pub fn rival(self) -> Option<Self> {
        match self {
            Self::Client(Library::Bowline, link, flavour) => {
                Some(Self::Client(Library::Rmcp, link, flavour))
            }
            _ => None,
        }
    }

    /// What to call it in a table.
    #[must_use]
    pub fn name(self) -> String {
        let Self::Client(library, link, flavour) = self else {
            return "raw limit, blocking, child".to_owned();
        };
        let link = match (library, link) {
            (_, Link::Child) => "child",
            (Library::Bowline, Link::Memory) => "memory",
            (Library::Rmcp, Link::Memory) => "duplex",
        };
        let library = match library {
            Library::Bowline => "bowline",
            Library::Rmcp => "rmcp",
        };
        let threads = match flavour {
            Flavour::Multi => "multi-thread",
            Flavour::Current => "current-thread",
        };
        format!("{library}, {link}, {threads}")
    }

    /// Measures it once.
    #[must_use]
    pub fn measure(self, plan: Plan) -> Sample {
        match self {
            Self::Raw => measure::raw(plan),
            Self::Client(library, link, flavour) => {
                connect(library, link, &flavour.runtime(), Measure(plan))
            }
        }
    }
}

struct Measure(Plan);

impl Job for Measure {
    type Output = Sample;

    fn run<C: Caller>(self, runtime: &Runtime, client: C) -> Sample {
        measure::client(runtime, client, self.0)
    }
}

/// Connects, and does something with the client.
pub fn connect<J: Job>(library: Library, link: Link, runtime: &Runtime, job: J) -> J::Output {
    match (library, link) {
        (Library::Bowline, Link::Child) => job.run(runtime, runtime.block_on(Bowline::child())),
        (Library::Bowline, Link::Memory) => job.run(runtime, runtime.block_on(Bowline::memory())),
        (Library::Rmcp, Link::Child) => job.run(runtime, runtime.block_on(Rmcp::child())),
        (Library::Rmcp, Link::Memory) => job.run(runtime, runtime.block_on(Rmcp::duplex())),
    }
}

impl Flavour {
    /// A new runtime.
    #[must_use]
    pub fn runtime(self) -> Runtime {
        let mut builder = match self {
            Self::Multi => Builder::new_multi_thread(),
            Self::Current => Builder::new_current_thread(),
        };
        builder.enable_all().build().expect("a runtime starts")
    }
}

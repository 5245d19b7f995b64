//! What the adversary does.

use std::fmt;

use proptest::prelude::*;

use super::tools::NAMES;
use crate::server::replay::program::{Part, steady};

/// A program, and all that is done to it and to the other tools.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) program: Part,
    pub(crate) acts: Vec<Act>,
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Calls a tool for the first time.
    Begin {
        tool: &'static str,
        argument: &'static str,
        node: u8,
    },
    Send(Send),
    /// Kills a node after so many milliseconds, and starts it again.
    Kill {
        node: u8,
        after: u16,
    },
    /// Lets a node stand still for so many seconds.
    Stall {
        node: u8,
        seconds: u16,
    },
    /// Lets so many seconds pass.
    Pass(u16),
    /// Lets so many operations on the store fail.
    Break(u8),
    /// Somebody else has a conversation, from its begin to its end.
    Honest {
        node: u8,
    },
    /// Begins and ends so many conversations.
    Flood(u8),
}

/// A later round.
#[derive(Clone, Debug)]
pub(crate) struct Send {
    /// Which state; the newest, if there is none here.
    pub(crate) state: Option<prop::sample::Index>,
    /// What is answered: yes, no, something else, or nothing.
    pub(crate) mood: u8,
    pub(crate) shape: Shape,
    /// Whether it is about something else now.
    pub(crate) swapped: bool,
    pub(crate) principal: &'static str,
    pub(crate) node: u8,
    pub(crate) then: Then,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Whole,
    /// The last answer is missing.
    Partial,
    /// There is one to a question that was not asked.
    Unknown,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    /// It is waited for.
    Wait,
    /// It goes on beside what follows.
    Later,
    /// The link goes down after so many milliseconds.
    Drop(u16),
    /// It is called off then.
    Cancel(u16),
}

/// Arguments, some of which are JSON and have no value.
const ARGUMENTS: [&str; 3] = [
    r#"{"what":"pen"}"#,
    r#"{"what":"pen","x":1e400}"#,
    r#"{"what":"pen","x":"\ud800"}"#,
];

pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    let begin = begin();
    let acts = prop::collection::vec(act(), 0..40);
    let flood = prop::bool::weighted(0.05);
    (steady(), begin, acts, flood).prop_map(|(program, begin, mut acts, flood)| {
        acts.insert(0, begin);
        if flood {
            acts.extend([Act::Flood(70), Act::Honest { node: 0 }]);
        }
        Plan { program, acts }
    })
}

fn begin() -> impl Strategy<Value = Act> {
    let tool = prop::sample::select(&NAMES[..]);
    let argument = prop_oneof![
        4 => Just(ARGUMENTS[0]),
        1 => Just(ARGUMENTS[1]),
        1 => Just(ARGUMENTS[2]),
    ];
    (tool, argument, 0_u8..3).prop_map(|(tool, argument, node)| Act::Begin {
        tool,
        argument,
        node,
    })
}

fn act() -> impl Strategy<Value = Act> {
    let seconds = prop_oneof![5 => 1_u16..10, 3 => 30_u16..90, 2 => 590_u16..720];
    prop_oneof![
        2 => begin(),
        16 => send().prop_map(Act::Send),
        1 => (0_u8..3, 0_u16..3000).prop_map(|(node, after)| Act::Kill { node, after }),
        2 => (0_u8..3, 1_u16..20).prop_map(|(node, seconds)| Act::Stall { node, seconds }),
        2 => seconds.prop_map(Act::Pass),
        1 => (1_u8..4).prop_map(Act::Break),
        1 => (0_u8..3).prop_map(|node| Act::Honest { node }),
    ]
}

fn send() -> impl Strategy<Value = Send> {
    let state = prop::option::weighted(0.5, any::<prop::sample::Index>());
    let mood = prop_oneof![6 => Just(0_u8), 2 => Just(1_u8), 1 => Just(2_u8), 1 => Just(3_u8)];
    let shape = prop_oneof![
        10 => Just(Shape::Whole),
        1 => Just(Shape::Partial),
        1 => Just(Shape::Unknown),
    ];
    let principal = prop_oneof![12 => Just("mallory"), 1 => Just("eve")];
    let then = prop_oneof![
        5 => Just(Then::Wait),
        2 => Just(Then::Later),
        1 => (0_u16..4000).prop_map(Then::Drop),
        1 => (0_u16..4000).prop_map(Then::Cancel),
    ];
    let swapped = prop::bool::weighted(0.1);
    (state, mood, shape, swapped, principal, 0_u8..3, then).prop_map(
        |(state, mood, shape, swapped, principal, node, then)| Send {
            state,
            mood,
            shape,
            swapped,
            principal,
            node,
            then,
        },
    )
}

/// One line for each act.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the program: {:?}", self.program)?;
        for act in &self.acts {
            writeln!(f, "  {act:?}")?;
        }
        Ok(())
    }
}

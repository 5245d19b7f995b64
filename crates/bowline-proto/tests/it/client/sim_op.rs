//! What a simulated world is told to do: plans, which shrink.

use std::fmt;

use bowline_proto::{model::ToolMode, revision::Era};
use proptest::{collection::vec, option, prelude::*};

/// One life of a connection: a seed for chance, a setting, and what happens.
#[derive(Clone)]
pub(crate) struct Plan {
    /// Feeds the machine's jitter and the world's latencies.
    pub(crate) seed: u64,
    pub(crate) setup: Setup,
    pub(crate) ops: Vec<Op>,
}

/// How the machine is configured and what the server is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Exchanges rather than one stream: answers overtake each other, and
    /// requests have fates of their own.
    pub(crate) http: bool,
    pub(crate) speaks: Speaks,
    /// Short deadlines.
    pub(crate) interactive: bool,
    pub(crate) assume: Option<Era>,
    pub(crate) allowed: Option<Era>,
    pub(crate) strict: bool,
    pub(crate) level: bool,
    /// Room for a few tombstones only.
    pub(crate) few_graves: bool,
    /// Time to open a session before anything goes wrong.
    pub(crate) head_start: bool,
}

/// The eras that the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Handshake,
    Stateless,
    Both,
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Call(CallOp),
    /// Gives up the `nth` open call, `times` times over.
    Cancel {
        nth: u8,
        times: u8,
    },
    DropCall {
        nth: u8,
    },
    Subscribe {
        uri: u8,
        wait: bool,
    },
    Unsubscribe {
        uri: u8,
        wait: bool,
    },
    SetLevel {
        wait: bool,
    },
    Watch {
        tools: bool,
        prompts: bool,
    },
    Notify,
    /// Answers the `nth` call that asked, or declines to.
    ProvideInput {
        nth: u8,
        give: bool,
    },
    /// Answers the `nth` request of the server's.
    Respond {
        nth: u8,
        ok: bool,
    },
    Server(ServerDoes),
    Link(Fault),
    Pass {
        ms: u16,
    },
    /// Lets time pass up to the machine's next deadline.
    Wake,
    Stop,
    /// Stops, and begins anew with a fresh machine.
    Restart,
}

/// A call of the host's.
#[derive(Clone, Debug)]
pub(crate) struct CallOp {
    pub(crate) kind: Kind,
    /// Waits for the connection rather than fail fast.
    pub(crate) wait: bool,
    pub(crate) timeout: Option<u16>,
    /// Progress extends the deadline, to this many milliseconds in all.
    pub(crate) extends: Option<u16>,
    pub(crate) replay: bool,
    pub(crate) mode: Option<ToolMode>,
    pub(crate) hand_back: bool,
    /// What the server does about each round; then it answers.
    pub(crate) turns: Vec<Turn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Prompt,
    ListTools,
    Ping,
    Foreign,
    /// Larger than the frame limit.
    Huge,
}

/// What the server does about one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) after: u16,
    pub(crate) act: Act,
    /// Pieces of progress first.
    pub(crate) progress: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Answer,
    Refuse,
    /// Asks for input that the host has.
    Ask,
    /// Asks for roots only, which the machine answers itself.
    AskRoots,
    /// Puts the request off without a question.
    Pause,
    /// Asks for what the client did not offer.
    AskUnoffered,
    Silence,
    Twice,
    /// Answers under an id that nobody used.
    WrongId,
    /// Answers under the id of another open request.
    CrossedId,
    /// Answers under the id as a string.
    TextId,
    /// An answer that is not one, with a readable id.
    Malformed,
    /// A `resultType` that nobody knows.
    BadType,
    TooLarge,
}

/// What the server does of its own accord.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ServerDoes {
    Notify {
        count: u8,
    },
    Request {
        kind: AskKind,
        id: u8,
    },
    CancelRequest {
        id: u8,
    },
    /// Ends its streams of changes, in order or with an error.
    EndStreams {
        error: bool,
    },
    Stray {
        id: u8,
    },
    Close,
    Restart {
        speaks: Speaks,
    },
    Mute {
        on: bool,
    },
    /// HTTP: forgets the session, so that every request meets 404.
    ForgetSession,
    /// HTTP: forgets every session as soon as it is open.
    Forgetful {
        on: bool,
    },
    Open(Manner),
    /// Honours only some of the resources asked for.
    HonourLess {
        on: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskKind {
    Ping,
    Roots,
    Sampling,
    Elicit,
    Initialize,
    Unknown,
}

/// How the server behaves while a session is being opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Proper,
    /// Takes longer to start than the probe may take.
    SlowStart,
    SilentProbe,
    /// Answers the probe late, with an error that names no id.
    NamelessProbe,
    /// Answers the probe with a result that is none.
    NonsenseProbe,
    DiesOnProbe,
    WrongVersion,
    RefusesInitialize,
    SilentInitialize,
    PingsFirst,
}

/// What goes wrong between the two.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Cut,
    Garbage {
        which: u8,
    },
    /// The next frame to the client loses its end.
    Truncate,
    /// The next request to the server is lost.
    Drop,
    /// The next frame to the client is lost.
    DropBack,
    /// The next frame to the client comes twice.
    Duplicate,
    /// The next frame to the client takes its time.
    Hold {
        ms: u16,
    },
    /// The next frame to the client grows over the limit.
    Oversize {
        told: bool,
    },
    /// The next sends meet a full queue.
    Busy {
        times: u8,
    },
    /// The next request cannot be sent.
    Fail,
    /// HTTP: the next request ends without an answer.
    Unanswered,
    /// HTTP: the next request meets this status.
    Status {
        code: u16,
        body: bool,
    },
    RefuseDials {
        times: u8,
    },
    /// The next dials lead nowhere.
    HangDials {
        times: u8,
    },
    /// Things are heard from a link that is long gone.
    Ghost {
        which: u8,
    },
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {:#x}", self.seed)?;
        writeln!(f, "{:?}", self.setup)?;
        for (at, op) in self.ops.iter().enumerate() {
            writeln!(f, "  {at:3}: {op:?}")?;
        }
        Ok(())
    }
}

/// Plans of up to `most` operations, of all kinds.
pub(crate) fn plans(most: usize) -> impl Strategy<Value = Plan> {
    plans_of(op(), most)
}

/// Plans with many calls, whose answers come late, twice, crossed, or not.
pub(crate) fn plans_of_calls(most: usize) -> impl Strategy<Value = Plan> {
    let op = prop_oneof![
        12 => call().prop_map(Op::Call),
        1 => (any::<u8>(), 1..10_u8).prop_map(|(nth, times)| Op::Cancel { nth, times }),
        2 => any::<u8>().prop_map(|nth| Op::ProvideInput { nth, give: true }),
        4 => fault().prop_map(Op::Link),
        5 => (0..300_u16).prop_map(|ms| Op::Pass { ms }),
        1 => Just(Op::Wake),
    ];
    plans_of(op, most)
}

/// Plans that subscribe, unsubscribe and watch a lot.
pub(crate) fn plans_of_wishes(most: usize) -> impl Strategy<Value = Plan> {
    let op = prop_oneof![
        6 => (0..4_u8, any::<bool>()).prop_map(|(uri, wait)| Op::Subscribe { uri, wait }),
        5 => (0..4_u8, any::<bool>()).prop_map(|(uri, wait)| Op::Unsubscribe { uri, wait }),
        1 => any::<bool>().prop_map(|wait| Op::SetLevel { wait }),
        2 => any::<(bool, bool)>().prop_map(|(tools, prompts)| Op::Watch { tools, prompts }),
        1 => (any::<u8>(), Just(1)).prop_map(|(nth, times)| Op::Cancel { nth, times }),
        4 => server_does().prop_map(Op::Server),
        4 => fault().prop_map(Op::Link),
        7 => (0..300_u16).prop_map(|ms| Op::Pass { ms }),
        1 => (400..40_000_u16).prop_map(|ms| Op::Pass { ms }),
        2 => Just(Op::Wake),
    ];
    plans_of(op, most)
}

fn plans_of(op: impl Strategy<Value = Op>, most: usize) -> impl Strategy<Value = Plan> {
    (any::<u64>(), setup(), vec(op, 1..=most)).prop_map(|(seed, setup, ops)| Plan {
        seed,
        setup,
        ops,
    })
}

fn setup() -> impl Strategy<Value = Setup> {
    let assume = prop_oneof![
        6 => Just(None),
        1 => Just(Some(Era::Handshake)),
        1 => Just(Some(Era::Stateless)),
    ];
    let allowed = prop_oneof![
        8 => Just(None),
        1 => Just(Some(Era::Handshake)),
        1 => Just(Some(Era::Stateless)),
    ];
    let rare = || prop::bool::weighted(0.15);
    (
        any::<bool>(),
        speaks(),
        any::<bool>(),
        assume,
        allowed,
        rare(),
        rare(),
        rare(),
        prop::bool::weighted(0.7),
    )
        .prop_map(
            |(
                http,
                speaks,
                interactive,
                assume,
                allowed,
                strict,
                level,
                few_graves,
                head_start,
            )| Setup {
                http,
                speaks,
                interactive,
                assume,
                allowed,
                strict,
                level,
                few_graves,
                head_start,
            },
        )
}

fn speaks() -> impl Strategy<Value = Speaks> {
    prop_oneof![
        3 => Just(Speaks::Handshake),
        3 => Just(Speaks::Stateless),
        1 => Just(Speaks::Both),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        30 => call().prop_map(Op::Call),
        6 => (any::<u8>(), 1..10_u8).prop_map(|(nth, times)| Op::Cancel { nth, times }),
        2 => any::<u8>().prop_map(|nth| Op::DropCall { nth }),
        6 => (0..5_u8, any::<bool>()).prop_map(|(uri, wait)| Op::Subscribe { uri, wait }),
        4 => (0..5_u8, any::<bool>()).prop_map(|(uri, wait)| Op::Unsubscribe { uri, wait }),
        2 => any::<bool>().prop_map(|wait| Op::SetLevel { wait }),
        3 => any::<(bool, bool)>().prop_map(|(tools, prompts)| Op::Watch { tools, prompts }),
        2 => Just(Op::Notify),
        7 => (any::<u8>(), prop::bool::weighted(0.8))
            .prop_map(|(nth, give)| Op::ProvideInput { nth, give }),
        3 => any::<(u8, bool)>().prop_map(|(nth, ok)| Op::Respond { nth, ok }),
        14 => server_does().prop_map(Op::Server),
        20 => fault().prop_map(Op::Link),
        26 => (0..400_u16).prop_map(|ms| Op::Pass { ms }),
        4 => (400..40_000_u16).prop_map(|ms| Op::Pass { ms }),
        10 => Just(Op::Wake),
        1 => prop_oneof![1 => Just(Op::Stop), 2 => Just(Op::Restart), 3 => Just(Op::Wake)],
    ]
}

fn call() -> impl Strategy<Value = CallOp> {
    let kind = prop_oneof![
        8 => Just(Kind::Tool),
        4 => Just(Kind::Resource),
        2 => Just(Kind::Prompt),
        1 => Just(Kind::ListTools),
        1 => Just(Kind::Ping),
        2 => Just(Kind::Foreign),
        1 => Just(Kind::Huge),
    ];
    (
        kind,
        prop::bool::weighted(0.7),
        option::weighted(0.4, 0..5_000_u16),
        option::weighted(0.2, 0..10_000_u16),
        prop::bool::weighted(0.3),
        prop_oneof![
            4 => Just(None),
            1 => Just(Some(ToolMode::Stateless)),
            2 => Just(Some(ToolMode::Stateful)),
        ],
        prop::bool::weighted(0.1),
        prop_oneof![4 => vec(turn(), 0..4), 1 => vec(question(), 2..5)],
    )
        .prop_map(
            |(kind, wait, timeout, extends, replay, mode, hand_back, turns)| CallOp {
                kind,
                wait,
                timeout,
                extends,
                replay,
                mode,
                hand_back,
                turns,
            },
        )
}

fn turn() -> impl Strategy<Value = Turn> {
    let after = prop_oneof![8 => 0..200_u16, 1 => 200..8_000_u16];
    let progress = prop_oneof![5 => Just(0_u8), 1 => 1..4_u8];
    (after, act(), progress).prop_map(|(after, act, progress)| Turn {
        after,
        act,
        progress,
    })
}

/// One of many questions about the same request.
fn question() -> impl Strategy<Value = Turn> {
    let act = prop_oneof![Just(Act::AskRoots), Just(Act::Ask), Just(Act::Pause)];
    (0..20_u16, act).prop_map(|(after, act)| Turn {
        after,
        act,
        progress: 1,
    })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Answer),
        2 => Just(Act::Refuse),
        6 => Just(Act::Ask),
        3 => Just(Act::AskRoots),
        4 => Just(Act::Pause),
        1 => Just(Act::AskUnoffered),
        2 => Just(Act::Silence),
        2 => Just(Act::Twice),
        1 => Just(Act::WrongId),
        2 => Just(Act::CrossedId),
        1 => Just(Act::TextId),
        1 => Just(Act::Malformed),
        1 => Just(Act::BadType),
        1 => Just(Act::TooLarge),
    ]
}

fn server_does() -> impl Strategy<Value = ServerDoes> {
    let kind = prop_oneof![
        Just(AskKind::Ping),
        Just(AskKind::Roots),
        Just(AskKind::Sampling),
        Just(AskKind::Elicit),
        Just(AskKind::Initialize),
        Just(AskKind::Unknown),
    ];
    prop_oneof![
        3 => (1..8_u8).prop_map(|count| ServerDoes::Notify { count }),
        4 => (kind, 0..6_u8).prop_map(|(kind, id)| ServerDoes::Request { kind, id }),
        2 => (0..6_u8).prop_map(|id| ServerDoes::CancelRequest { id }),
        3 => any::<bool>().prop_map(|error| ServerDoes::EndStreams { error }),
        1 => any::<u8>().prop_map(|id| ServerDoes::Stray { id }),
        2 => Just(ServerDoes::Close),
        3 => speaks().prop_map(|speaks| ServerDoes::Restart { speaks }),
        2 => any::<bool>().prop_map(|on| ServerDoes::Mute { on }),
        2 => Just(ServerDoes::ForgetSession),
        2 => any::<bool>().prop_map(|on| ServerDoes::Forgetful { on }),
        5 => manner().prop_map(ServerDoes::Open),
        3 => prop::bool::weighted(0.7).prop_map(|on| ServerDoes::HonourLess { on }),
    ]
}

fn manner() -> impl Strategy<Value = Manner> {
    prop_oneof![
        Just(Manner::Proper),
        Just(Manner::SlowStart),
        Just(Manner::SilentProbe),
        Just(Manner::NamelessProbe),
        Just(Manner::NonsenseProbe),
        Just(Manner::DiesOnProbe),
        Just(Manner::WrongVersion),
        Just(Manner::RefusesInitialize),
        Just(Manner::SilentInitialize),
        Just(Manner::PingsFirst),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let code = prop_oneof![
        Just(400_u16),
        Just(401),
        Just(404),
        Just(405),
        Just(429),
        Just(503),
    ];
    prop_oneof![
        4 => Just(Fault::Cut),
        2 => any::<u8>().prop_map(|which| Fault::Garbage { which }),
        2 => Just(Fault::Truncate),
        2 => Just(Fault::Drop),
        2 => Just(Fault::DropBack),
        3 => Just(Fault::Duplicate),
        3 => (0..3_000_u16).prop_map(|ms| Fault::Hold { ms }),
        1 => any::<bool>().prop_map(|told| Fault::Oversize { told }),
        4 => (1..5_u8).prop_map(|times| Fault::Busy { times }),
        2 => Just(Fault::Fail),
        2 => Just(Fault::Unanswered),
        3 => (code, any::<bool>()).prop_map(|(code, body)| Fault::Status { code, body }),
        1 => (1..4_u8).prop_map(|times| Fault::RefuseDials { times }),
        1 => (1..3_u8).prop_map(|times| Fault::HangDials { times }),
        2 => any::<u8>().prop_map(|which| Fault::Ghost { which }),
    ]
}

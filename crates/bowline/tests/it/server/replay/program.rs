//! Random conversations: a small language, and one function that runs it.

use std::{sync::Arc, time::Duration};

use bowline::server::{
    CallLimits, Conversation, Elicited, Error, ErrorKind, Result, Server, Service, Tool,
};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value, json};

use super::{
    app::{App, Text},
    unordered::{Boxed, unordered, until},
};

/// A part of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// A form, with a key of its own or none.
    Ask {
        keyed: bool,
    },
    /// The same, where no answer is an error.
    Insist,
    Confirm,
    /// A step: how long it takes, and whether it fails.
    Step {
        slow: u8,
        fails: bool,
    },
    /// One after the other.
    Seq(Vec<Part>),
    /// All at once, to the end of each.
    All(Vec<Part>),
    /// All at once, until one fails.
    Try(Vec<Part>),
    /// Two at once, until one ends.
    Race(Box<Part>, Box<Part>),
    Loop(u8, Box<Part>),
    /// A form, and one of these by the answer.
    If(Box<Part>, Box<Part>),
    /// The conversation ends here, well.
    Return,
    /// It fails here.
    Fail,
    /// What fails in here is passed over.
    Catch(Box<Part>),
}

/// Programs whose outcome does not depend on who is quicker.
pub(crate) fn steady() -> impl Strategy<Value = Part> {
    let several = || prop::collection::vec(part(), 2..5);
    prop_oneof![
        several().prop_map(Part::Seq),
        several().prop_map(Part::All),
        // Whoever asks later is another now than then, if something is told in
        // another order.
        several().prop_map(|parts| {
            let turns = parts.into_iter().map(|part| Part::Seq(vec![part, ASK]));
            Part::All(turns.collect())
        }),
    ]
}

/// The program of this number, the same in every process: steady ones in turn.
pub(crate) fn numbered(number: u64) -> Part {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let some = prop::collection::vec(steady(), 1..4).prop_map(Part::Seq);
    let drawn = some.new_tree(&mut runner);
    drawn.expect("nothing is filtered").current()
}

const ASK: Part = Part::Ask { keyed: false };

fn part() -> impl Strategy<Value = Part> {
    let leaf = prop_oneof![
        4 => any::<bool>().prop_map(|keyed| Part::Ask { keyed }),
        1 => Just(Part::Insist),
        1 => Just(Part::Confirm),
        4 => (0_u8..4, prop::bool::weighted(0.2))
            .prop_map(|(slow, fails)| Part::Step { slow, fails }),
        1 => Just(Part::Return),
        1 => Just(Part::Fail),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            3 => some.clone().prop_map(Part::Seq),
            3 => some.prop_map(Part::All),
            1 => (1_u8..4, inner.clone()).prop_map(|(times, it)| Part::Loop(times, Box::new(it))),
            2 => (inner.clone(), inner.clone())
                .prop_map(|(yes, no)| Part::If(Box::new(yes), Box::new(no))),
            1 => inner.prop_map(|it| Part::Catch(Box::new(it))),
        ]
    })
}

/// All programs, with races.
pub(crate) fn wild() -> impl Strategy<Value = Part> {
    let some = || prop::collection::vec(part(), 1..4);
    let part = prop_oneof![
        2 => steady(),
        1 => some().prop_map(Part::Try),
        1 => (part(), part()).prop_map(|(one, other)| {
            Part::Race(Box::new(one), Box::new(other))
        }),
    ];
    prop::collection::vec(part, 1..4).prop_map(Part::Seq)
}

/// What a user says to this, in one of several moods. They repeat what they
/// were asked, so that answers in the wrong place are found out.
pub(crate) fn answer(question: &Value, mood: u64) -> Value {
    let message = question["params"]["message"].as_str().unwrap_or_default();
    if message.starts_with("confirm") {
        let confirmed = !hash(message, mood).is_multiple_of(4);
        return json!({"action": "accept", "content": {"confirmed": confirmed}});
    }
    match hash(message, mood) % 5 {
        0 => json!({"action": "decline"}),
        even_or_odd => {
            let text = format!("{} to {message}", even_or_odd % 2);
            json!({"action": "accept", "content": {"text": text}})
        }
    }
}

/// A server with this program as its one tool, `program`.
pub(crate) fn serve(
    program: &Part,
    change: impl FnOnce(Server<App>) -> Server<App>,
) -> Service<App> {
    let program = Arc::new(program.clone());
    let tool = Tool::new("program")
        .description("Runs a random conversation")
        .no_input()
        .limits(CallLimits::new().max_questions(10_000))
        .handler_with_conversation(move |_, cx: Conversation<App>| {
            let program = Arc::clone(&program);
            async move { run_part(&program, &cx).await }
        });
    let server = Server::new("programs", "1").state(App::default());
    let server = change(server.tool(tool));
    server.build().expect("the server is sound")
}

/// What programs have at hand.
pub(crate) trait World: Send + Sync + 'static {
    /// The number of the world, which no conversation should depend on.
    fn world(&self) -> u64;

    /// Something with an effect, in this conversation.
    fn note(&self, conversation: &str, what: &str) -> impl Future<Output = Result<String>> + Send;

    /// Takes note of what was answered to a question.
    fn heard(&self, _question: &str, _answer: &str) {}

    /// Takes note of a step in this conversation whose end is not known.
    fn lost(&self, _conversation: &str, _step: &str) {}
}

/// Runs a program to its end.
pub(crate) async fn run_part<S: World>(program: &Part, cx: &Conversation<S>) -> Result<String> {
    match run(program, String::from("p"), cx).await? {
        Flow::On(text) | Flow::Out(text) => Ok(text),
    }
}

/// Whether a conversation goes on.
enum Flow {
    On(String),
    Out(String),
}

/// Runs a part, which is found at this path.
fn run<'a, S: World>(
    part: &'a Part,
    path: String,
    cx: &'a Conversation<S>,
) -> Boxed<'a, Result<Flow>> {
    Box::pin(async move {
        let text = match part {
            Part::Ask { keyed } => ask(cx, &path, *keyed).await?,
            Part::Insist => {
                let message = message(cx, &path);
                let answer = cx.elicit::<Text>(&message).required().await?;
                checked(cx, &message, answer).await
            }
            Part::Confirm => {
                let question = format!("confirm {path}");
                cx.confirm(&question).await?;
                cx.state().heard(&question, "c");
                String::from("c")
            }
            Part::Step { slow, fails } => step(cx, &path, *slow, *fails).await?,
            Part::Return => return Ok(Flow::Out(format!("return {path}"))),
            Part::Fail => return Err(Error::failed(format!("fail {path}"))),
            Part::Catch(inner) => match run(inner, path + "c", cx).await {
                Ok(flow) => return Ok(flow),
                Err(error) => format!("caught {error}"),
            },
            Part::If(yes, no) => {
                let answer = ask(cx, &path, false).await?;
                let then = if answer == "1" { yes } else { no };
                return run(then, path + "i", cx).await;
            }
            Part::Loop(times, inner) => {
                let inner = (0..*times).map(|_| &**inner);
                return in_turn(inner, &path, cx).await;
            }
            Part::Seq(parts) => return in_turn(parts, &path, cx).await,
            Part::All(parts) => gather(unordered(each(parts, &path, cx)).await)?,
            Part::Try(parts) => gather(until(each(parts, &path, cx), Result::is_err).await)?,
            Part::Race(one, other) => tokio::select! {
                first = run(one, format!("{path}_a"), cx) => return first,
                second = run(other, format!("{path}_b"), cx) => return second,
            },
        };
        Ok(Flow::On(text))
    })
}

async fn in_turn<'a, S: World>(
    parts: impl IntoIterator<Item = &'a Part>,
    path: &str,
    cx: &'a Conversation<S>,
) -> Result<Flow> {
    let mut all = String::new();
    for (number, part) in parts.into_iter().enumerate() {
        match run(part, format!("{path}_{number}"), cx).await? {
            Flow::On(text) => all = all + &text + ";",
            out @ Flow::Out(_) => return Ok(out),
        }
    }
    Ok(Flow::On(all))
}

fn each<'a, S: World>(
    parts: &'a [Part],
    path: &'a str,
    cx: &'a Conversation<S>,
) -> impl Iterator<Item = Boxed<'a, Result<Flow>>> {
    let parts = parts.iter().enumerate();
    parts.map(move |(number, part)| run(part, format!("{path}_{number}"), cx))
}

/// What all of them came to, in the order in which they are written.
fn gather(mut ended: Vec<(usize, Result<Flow>)>) -> Result<String> {
    ended.sort_by_key(|(number, _)| *number);
    let mut all = String::new();
    for (_, flow) in ended {
        match flow? {
            Flow::On(text) | Flow::Out(text) => all = all + &text + ",",
        }
    }
    Ok(all)
}

async fn ask<S: World>(cx: &Conversation<S>, path: &str, keyed: bool) -> Result<String> {
    let message = message(cx, path);
    let mut question = cx.elicit::<Text>(&message);
    if keyed {
        question = question.key(path);
    }
    let without = match question.await? {
        Elicited::Accepted(answer) => return Ok(checked(cx, &message, answer).await),
        Elicited::Declined => "declined",
        Elicited::Cancelled => "cancelled",
    };
    cx.state().heard(&message, without);
    Ok(without.to_owned())
}

/// What a question says: some say something else when the world has changed.
fn message<S: World>(cx: &Conversation<S>, path: &str) -> String {
    match hash(path, 0) % 3 {
        0 => format!("{path} in {}", cx.state().world()),
        _ => path.to_owned(),
    }
}

/// What was answered. It must be an answer to this question.
async fn checked<S: World>(cx: &Conversation<S>, message: &str, answer: Text) -> String {
    let (what, to) = answer.text.split_once(" to ").unwrap_or_default();
    if to != message {
        let wrong = format!("wrong: {message} {to}");
        let _ = cx.state().note(cx.id(), &wrong).await;
    }
    cx.state().heard(message, what);
    what.to_owned()
}

/// A step that may take a while, notes its path once, and may fail. All steps
/// have one of two names, so that they must be told apart by their number.
async fn step<S: World>(cx: &Conversation<S>, path: &str, slow: u8, fails: bool) -> Result<String> {
    let work = async {
        cx.state().note(cx.id(), path).await?;
        match slow {
            0 => {}
            1 => tokio::task::yield_now().await,
            _ => tokio::time::sleep(Duration::from_millis(hash(path, slow.into()) % 50)).await,
        }
        match fails {
            true => Err(Error::failed(format!("failed {path}"))),
            false => Ok(format!("s{path}")),
        }
    };
    let taken = cx.step(["even", "odd"][path.len() % 2], work).await;
    if let Err(error) = &taken
        && *error.kind() == ErrorKind::OutcomeUnknown
    {
        cx.state().lost(cx.id(), path);
    }
    taken
}

/// A number that depends on nothing else.
pub(crate) fn hash(text: &str, salt: u64) -> u64 {
    let bytes = text.bytes().map(u64::from);
    let all = bytes.fold(salt ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ byte).wrapping_mul(0x0100_0000_01b3)
    });
    all >> 17
}

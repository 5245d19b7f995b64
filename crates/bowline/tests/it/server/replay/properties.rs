//! What holds for every conversation, however it is written and however often
//! its rounds are repeated.

use std::{collections::HashMap, sync::Arc};

use bowline::{
    Client,
    proto::{jsonrpc::RawJson, model::ElicitParams, revision::Revision},
    server::Service,
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};
use serde_json::{Value, json};

use super::{
    app::App,
    program::{Part, answer, serve, steady, wild},
    rig::{Called, Peer, Questions, Round},
};

/// Cases of each property in a usual run; `BOWLINE_CASES` multiplies it.
const CASES: u32 = 200;
/// `BOWLINE_SEED` replaces it. With the same seed the same cases are tried.
const SEED: u64 = 0x00b0_111e;

/// Tries `property` on many inputs, each in a runtime of its own whose time is
/// paused. Where it fails, the smallest input found that fails is printed, and
/// the seed of the run.
#[track_caller]
fn check<S: Strategy>(strategy: &S, property: &impl AsyncFn(&S::Value)) {
    holds(strategy, &async |input: &S::Value| {
        property(input).await;
        Ok(())
    });
}

/// The same for a property that says what is wrong and does not panic, so that
/// all that is printed is of the smallest input.
#[track_caller]
pub(crate) fn holds<S: Strategy>(
    strategy: &S,
    property: &impl AsyncFn(&S::Value) -> Result<(), String>,
) {
    let seed = setting("BOWLINE_SEED").unwrap_or(SEED);
    let times = setting("BOWLINE_CASES").and_then(|times| u32::try_from(times).ok());
    let config = Config {
        cases: CASES.saturating_mul(times.unwrap_or(1)),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let outcome = TestRunner::new_with_rng(config, rng).run(strategy, |input| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let held = runtime.block_on(property(&input));
        held.map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => panic!("BOWLINE_SEED={seed}: {why}\n{input:#?}"),
        Err(error) => panic!("BOWLINE_SEED={seed}: {error}"),
    }
}

pub(crate) fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What a conversation came to: its text, whether it failed, what was asked,
/// and what happened.
pub(crate) type Outcome = (String, bool, Vec<String>, Vec<String>);

pub(crate) async fn live(program: &Part, mood: u64) -> Outcome {
    let service = serve(program, |server| server);
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let user = move |params: ElicitParams| {
        let question = json!({"params": {"message": params.message}});
        let answer = RawJson::encode(&answer(&question, mood)).expect("JSON");
        seen.lock().expect("no panics").push(params.message);
        async move { answer.decode().expect("an answer") }
    };
    let client = Client::builder()
        .revisions([Revision::V2025_11_25])
        .on_elicit(user)
        .connect(service.in_memory())
        .await
        .expect("it connects");
    let result = client.tools().call("program", json!({})).await;
    let result = result.expect("a result");
    let asked = asked.lock().expect("no panics").clone();
    outcome(&service, (result.all_text(), result.is_error()), asked)
}

async fn replayed(program: &Part, mood: u64) -> Outcome {
    let service = serve(program, |server| server);
    let mut asked = Vec::new();
    let user = |_: &str, question: &Value| {
        let message = question["params"]["message"].as_str();
        asked.push(message.expect("a message").to_owned());
        answer(question, mood)
    };
    let end = Peer::new(&service).run(&Called::new("program"), user).await;
    outcome(&service, end.text(), asked)
}

fn outcome(service: &Service<App>, end: (String, bool), mut asked: Vec<String>) -> Outcome {
    let mut noted = service.state().noted();
    is_right(service);
    asked.sort();
    noted.sort();
    (end.0, end.1, asked, noted)
}

/// Nothing happened twice, and no answer came to a question that it was not
/// given to.
#[track_caller]
fn is_right(service: &Service<App>) {
    assert_eq!(service.state().repeated(), HashMap::new());
    let noted = service.state().noted();
    let wrong: Vec<_> = noted.iter().filter(|it| it.starts_with("wrong")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn live_and_replayed_conversations_come_to_the_same() {
    check(&(steady(), 0_u64..1000), &async |(program, mood)| {
        let (live, replayed) = (live(program, *mood).await, replayed(program, *mood).await);
        assert_eq!(live, replayed);
    });
}

/// What a client does that repeats its rounds: which of them, in which mood,
/// how often at once, and whether it leaves out the last answer.
type Again = (prop::sample::Index, bool, u8, bool);

fn again() -> impl Strategy<Value = Vec<Again>> {
    let one = (
        any::<prop::sample::Index>(),
        prop::bool::weighted(0.2),
        1_u8..4,
        prop::bool::weighted(0.1),
    );
    prop::collection::vec(one, 1..20)
}

#[test]
fn nothing_happens_twice_however_rounds_are_repeated() {
    check(&(wild(), again()), &async |(program, plan)| {
        let service = serve(program, |server| server);
        let called = Called::new("program");
        let mut peer = Peer::new(&service);
        let mut known: Vec<Questions> = Vec::new();
        if let Round::Asked(questions) = peer.begin(&called).await {
            known.push(questions);
        }
        let mut ended: HashMap<String, Value> = HashMap::new();
        for (which, other_mood, times, partial) in plan {
            if known.is_empty() {
                break;
            }
            let questions = which.get(&known).clone();
            let mut answers = questions.answers(|_, it| answer(it, u64::from(*other_mood)));
            if *partial {
                let (last, _) = questions.asked.last().expect("a question");
                answers.as_object_mut().expect("an object").remove(last);
            }
            let params = called.later(&questions.state, &answers);
            let mut ids = Vec::new();
            for _ in 0..*times {
                ids.push(peer.send("tools/call", &params).await);
            }
            for id in ids {
                match peer.answer(id).await {
                    Round::Asked(questions) => known.push(questions),
                    Round::Ended(result) => {
                        let first = ended.entry(params.to_string());
                        assert_eq!(*first.or_insert_with(|| result.clone()), result);
                    }
                    Round::Refused(..) => {
                        assert!(!ended.contains_key(&params.to_string()), "{params}");
                    }
                }
            }
        }
        is_right(&service);
    });
}

/// A conversation that depends on what it should not comes to its end, or is
/// refused: it is never given an answer to another question, and never asks for
/// ever.
#[test]
fn a_changing_world_leads_to_no_wrong_answer() {
    let changes = prop::collection::vec(any::<bool>(), 1..6);
    check(&(wild(), changes), &async |(program, changes)| {
        let service = serve(program, |server| server);
        let called = Called::new("program");
        let mut peer = Peer::new(&service);
        let mut round = peer.begin(&called).await;
        let mut changes = changes.iter();
        let mut rounds = 0;
        while let Round::Asked(questions) = round {
            if changes.next().is_some_and(|change| *change) {
                service.state().change_the_world();
            }
            let answers = questions.answers(|_, it| answer(it, 0));
            round = peer.go_on(&called, &questions.state, &answers).await;
            rounds += 1;
            assert!(rounds < 1000, "it asks for ever");
        }
        is_right(&service);
    });
}

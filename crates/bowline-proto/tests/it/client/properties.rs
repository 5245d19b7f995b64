//! What holds in every simulated world, whatever happens in it.
//!
//! The oracle of the simulation checks the rules of the wire and of time at
//! every step; a property adds what must hold in the end.

use std::collections::BTreeMap;

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};

use super::{
    sim::World,
    sim_op::{Plan, plans, plans_of_calls, plans_of_wishes},
};

/// Cases of each property in a usual run; `BOWLINE_CASES` multiplies it.
pub(crate) const CASES: u32 = 1_000;
/// `BOWLINE_SEED` replaces it. With the same seed the same cases are tried.
const SEED: u64 = 0x00b0_111e;

/// Tries `property` on many inputs. Where it fails, the smallest input found
/// that fails is printed, and the seed of the run.
#[track_caller]
pub(crate) fn check<S: Strategy>(strategy: &S, property: impl Fn(&S::Value)) {
    let seed = setting("BOWLINE_SEED").unwrap_or(SEED);
    let times = setting("BOWLINE_CASES").and_then(|times| u32::try_from(times).ok());
    let config = Config {
        cases: CASES.saturating_mul(times.unwrap_or(1)),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(strategy, |input| {
        property(&input);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => {
            panic!("BOWLINE_SEED={seed}: {why}\n{input:#?}");
        }
        Err(error) => panic!("BOWLINE_SEED={seed}: {error}"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long to search is not a matter of the protocol"
)]
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn finish(world: &mut World) {
    if !world.oracle.stopped {
        world.stop();
    }
    world.end();
}

/// TST-01, TST-02: every call ends exactly once, and in the end nothing is
/// held, whatever happened before.
#[test]
fn every_call_ends_once_and_nothing_is_held() {
    check(&plans(80), |plan| {
        let mut world = World::live(plan);
        finish(&mut world);
    });
}

/// TST-01: however answers are ordered, doubled, crossed or lost, a caller
/// gets the answer to its own request or none.
#[test]
fn no_answer_reaches_another_caller() {
    check(&plans_of_calls(80), |plan| {
        let mut world = World::live(plan);
        finish(&mut world);
    });
}

/// TST-02: once everybody was answered, the table is empty; what is left are
/// tombstones, which are bounded and expire.
#[test]
fn time_leaves_nothing_behind() {
    check(&plans_of_calls(60), |plan| {
        let mut world = World::live(plan);
        world.recover();
        let settings = super::sim::config(plan.setup);
        let longest = settings.timeouts.input + settings.timeouts.other * 5;
        world.pass(longest + settings.cancelled_call_ttl() + settings.sweep_interval);
        assert_eq!(world.oracle.open(), []);
        let census = world.machine.stats();
        assert_eq!((census.calls, census.aliases, census.timers), (0, 0, 0));
        assert_eq!(
            census.cancelled_calls, 0,
            "a tombstone that does not expire"
        );
        finish(&mut world);
    });
}

/// TST-03: cancelling ten times is cancelling once, to the last byte sent.
#[test]
fn cancelling_often_is_cancelling_once() {
    check(&plans(60), |plan| {
        let live = |times| {
            let mut world = World::new(plan);
            world.cancel_times = Some(times);
            for op in &plan.ops {
                world.apply(op);
            }
            finish(&mut world);
            world.digest
        };
        assert_eq!(live(1), live(10));
    });
}

/// TST-04: stopped at any moment, every open call ends with `Shutdown`, at
/// once and once.
#[test]
fn stopping_answers_everybody() {
    check(&plans(40), |plan| {
        for moment in [plan.ops.len() / 3, plan.ops.len()] {
            let mut world = World::new(plan);
            for op in &plan.ops[..moment] {
                world.apply(op);
            }
            // `stop` itself checks how the open calls ended.
            world.stop();
            world.stop();
            world.end();
        }
    });
}

/// TST-05: whatever happened, once all is well the connection comes back
/// within a bounded time, and calls get through.
#[test]
fn it_comes_back_once_all_is_well() {
    check(&plans(60), |plan| {
        let mut world = World::live(plan);
        if !world.oracle.stopped {
            world.recover();
        }
        finish(&mut world);
    });
}

/// Once all is well, what the host was told of its subscriptions is true.
#[test]
fn host_and_server_agree_on_subscriptions() {
    check(&plans_of_wishes(60), |plan| {
        let mut world = World::live(plan);
        if !world.oracle.stopped {
            world.recover();
            world.agree();
        }
        finish(&mut world);
    });
}

/// The same seed makes the same world: failures can be reproduced.
#[test]
fn the_same_seed_makes_the_same_world() {
    check(&plans(40), |plan| {
        let digest = |plan: &Plan| World::live(plan).digest;
        assert_eq!(digest(plan), digest(plan));
    });
}

/// The worlds are as varied as they are meant to be: every way to end a call
/// is met, and not by accident.
#[test]
fn the_worlds_are_varied() {
    let tally = std::cell::RefCell::new(BTreeMap::new());
    let steps = std::cell::Cell::new(0);
    check(&plans(80), |plan| {
        let mut world = World::live(plan);
        finish(&mut world);
        steps.set(steps.get() + world.steps);
        for (how, count) in &world.oracle.tally {
            *tally.borrow_mut().entry(*how).or_insert(0) += count;
        }
    });
    let tally = tally.into_inner();
    assert!(
        steps.get() >= 30 * u64::from(CASES),
        "{} steps only",
        steps.get()
    );
    let ends = [
        "result",
        "refused",
        "timeout",
        "cancelled",
        "lost",
        "shutdown",
        "not ready",
        "busy",
        "undelivered",
        "request too large",
        "answer too large",
        "invalid answer",
        "no such method",
        "too many rounds",
        "not offered",
        "abandoned",
        "not honoured",
    ];
    for end in ends {
        let count = tally.get(end).copied().unwrap_or(0);
        assert!(count >= 3, "{end} is met {count} times only: {tally:?}");
    }
}

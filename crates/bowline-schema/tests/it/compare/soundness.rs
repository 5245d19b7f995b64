//! That what is said to be compatible is, for random schemas and values.

use std::{cell::RefCell, env, fmt::Debug};

use bowline_schema::{
    Validator,
    compare::{ChangeKind, Usage, compare},
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, RngSeed, TestError, TestRng, TestRunner},
};
use serde_json::Value;

use super::{
    declared::is_declared,
    random::{document, mutate, mutations},
    samples::sample,
};

/// Pairs of schemas in a usual run; `PROPTEST_CASES` replaces it.
const CASES: u32 = 1_000;
/// `PROPTEST_RNG_SEED` replaces it. With the same seed the same cases are tried.
const SEED: u64 = 20_260_728;
/// Values that are tried with each pair.
const SAMPLES: usize = 40;

/// What happened in a run.
#[derive(Debug, Default)]
struct Tally {
    pairs: u32,
    /// Verdicts by their kind.
    verdicts: [u32; 4],
    /// Compatible verdicts about schemas that values tell apart.
    compatible_and_different: u32,
    /// Breaking verdicts, and how many of them a value confirms.
    breaking: u32,
    confirmed_breaking: u32,
    /// Values that were valid for the schema that they were made for.
    valid_samples: u64,
    samples: u64,
    /// Values that are only invalid because of the exception.
    excepted: u32,
}

/// Tries a property on many inputs. Where it fails, the smallest input found that fails
/// is printed, and the seed of the run.
#[track_caller]
pub(super) fn check<S: Strategy>(strategy: &S, property: impl Fn(&S::Value) -> Result<(), String>)
where
    S::Value: Debug,
{
    let number = |name: &str| env::var(name).ok()?.parse::<u64>().ok();
    let seed = number("PROPTEST_RNG_SEED").unwrap_or(SEED);
    let cases = number("PROPTEST_CASES").and_then(|it| u32::try_from(it).ok());
    let config = Config {
        cases: cases.unwrap_or(CASES),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(strategy, |input| {
        property(&input).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => panic!("PROPTEST_RNG_SEED={seed}: {why}\n{input:?}"),
        Err(error) => panic!("PROPTEST_RNG_SEED={seed}: {error}"),
    }
}

#[test]
fn values_stay_valid_unless_a_change_is_breaking() {
    let tally = RefCell::new(Tally::default());
    let pairs = (document(), mutations(), any::<[u8; 32]>());
    check(&pairs, |(old, mutations, seed)| {
        let new = mutate(old, mutations);
        let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, seed);
        check_pair(old, &new, &mut rng, &mut tally.borrow_mut())
    });
    let tally = tally.into_inner();
    // The property must have something to be wrong about.
    let verdicts = 2 * tally.pairs;
    let compatible = tally.verdicts[ChangeKind::Compatible as usize];
    assert!(compatible * 5 > verdicts, "{tally:?}");
    assert!(tally.compatible_and_different * 10 > verdicts, "{tally:?}");
    assert!(tally.confirmed_breaking * 2 > tally.breaking, "{tally:?}");
    assert!(tally.valid_samples * 5 > tally.samples, "{tally:?}");
}

fn check_pair(
    old: &Value,
    new: &Value,
    rng: &mut TestRng,
    tally: &mut Tally,
) -> Result<(), String> {
    let (Ok(old_validator), Ok(new_validator)) = (Validator::new(old), Validator::new(new)) else {
        return Ok(());
    };
    tally.pairs += 1;
    let values = (0..SAMPLES).map(|at| {
        let schema = if at % 2 == 0 { old } else { new };
        sample(schema, schema, rng)
    });
    let judged = values.map(|value| {
        let valid = [&old_validator, &new_validator].map(|it| it.is_valid(&value));
        (value, valid[0], valid[1])
    });
    let judged: Vec<(Value, bool, bool)> = judged.collect();
    tally.samples += judged.len() as u64;
    tally.valid_samples += judged.iter().filter(|(_, old, new)| *old || *new).count() as u64;
    let is_different = judged.iter().any(|(_, old, new)| old != new);
    for usage in [Usage::Input, Usage::Output] {
        let comparison = compare(old, new, usage);
        let kind = comparison.kind();
        tally.verdicts[kind as usize] += 1;
        let sender = match usage {
            Usage::Input => old,
            Usage::Output => new,
        };
        let lost = judged.iter().filter(|(_, in_old, in_new)| match usage {
            Usage::Input => *in_old && !in_new,
            Usage::Output => *in_new && !in_old,
        });
        let lost: Vec<&Value> = lost.map(|(value, ..)| value).collect();
        if kind == ChangeKind::Breaking {
            tally.breaking += 1;
            tally.confirmed_breaking += u32::from(!lost.is_empty());
            continue;
        }
        tally.compatible_and_different += u32::from(is_different);
        for value in lost {
            if is_declared(sender, value) {
                return Err(format!(
                    "{usage:?} is {kind} but for {value}: {old} to {new}"
                ));
            }
            tally.excepted += 1;
        }
        if kind <= ChangeKind::TextOnly && is_different {
            return Err(format!("{usage:?} is {kind}: {old} to {new}"));
        }
    }
    Ok(())
}

#[test]
fn the_other_usage_is_the_other_direction() {
    check(&(document(), mutations()), |(old, mutations)| {
        let new = mutate(old, mutations);
        let input = compare(old, &new, Usage::Input).kind();
        let output = compare(&new, old, Usage::Output).kind();
        let is_same = (input == ChangeKind::Breaking) == (output == ChangeKind::Breaking);
        match is_same {
            true => Ok(()),
            false => Err(format!("{input} and {output}: {old} to {new}")),
        }
    });
}

//! What fails a long run under attack: the program `soak` decides by this.

#[path = "../programs/soak/verdict.rs"]
mod verdict;

use std::time::Duration;

use self::verdict::Measured;

/// A run in which all is well.
fn quiet() -> Measured {
    Measured {
        memory: vec![Some(50_000); 80],
        usual: Duration::from_micros(200),
        amid: Duration::from_micros(300),
        honest_calls: 1000,
        broken: Vec::new(),
    }
}

#[track_caller]
fn check(change: impl FnOnce(&mut Measured), expected: &[&str]) {
    let mut run = quiet();
    change(&mut run);
    let faults = run.faults();
    assert_eq!(faults.len(), expected.len(), "{faults:?}");
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.contains(expected), "{fault:?}");
    }
}

#[test]
fn a_run_in_which_all_is_well_is_passed() {
    check(|_| {}, &[]);
}

#[test]
fn memory_that_grows_fails_a_run() {
    let grown = |run: &mut Measured| run.memory[70..].fill(Some(62_000));
    check(grown, &["memory grows: 50000 KiB"]);
    // What is filled once, at the beginning, is not growth.
    let warm = |run: &mut Measured| run.memory[..10].fill(Some(10_000));
    check(warm, &[]);
    // An early peak does not excuse a late one beyond it.
    let peaks = |run: &mut Measured| {
        run.memory[12] = Some(55_000);
        run.memory[79] = Some(70_000);
    };
    check(
        peaks,
        &["55000 KiB at most in the first quarter, 70000 KiB"],
    );
}

#[test]
fn a_process_that_died_fails_a_run() {
    check(|run| run.memory[79] = None, &["has died"]);
    check(|run| run.memory = vec![None], &["has died"]);
}

#[test]
fn a_run_that_is_too_short_to_tell_is_not_passed() {
    check(|run| run.memory.truncate(3), &["too short"]);
}

#[test]
fn honest_calls_that_wait_or_fail_fail_a_run() {
    let slow = |run: &mut Measured| run.amid = Duration::from_micros(401);
    check(slow, &["2.00 times as long"]);
    check(|run| run.honest_calls = 0, &["no honest call"]);
    let broken = |run: &mut Measured| run.broken = vec!["an honest call failed".to_owned()];
    check(broken, &["an honest call failed"]);
}

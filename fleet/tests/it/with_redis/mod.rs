//! Runs with a `redis-server`.

use std::time::Duration;

use bowline_fleet::{
    FaultPlan, FleetOptions,
    outcome::{Column, End},
    run::{self, RunOptions, new_folder},
    scenario,
};

const LEASE: Duration = Duration::from_secs(1);

fn fleet(name: &str) -> FleetOptions {
    FleetOptions {
        program: env!("CARGO_BIN_EXE_bowline-fleet").into(),
        folder: new_folder(name),
        lease: LEASE,
        is_durable: true,
        is_unguarded: false,
        seed: 20_260_728,
    }
}

/// Enough faults for a short run.
fn options(fleet: FleetOptions, conversations: usize) -> RunOptions {
    RunOptions {
        fleet,
        conversations,
        clients: 32,
        faults: FaultPlan {
            kill_every: Duration::from_millis(300),
            pause_every: Duration::from_millis(500),
            longest_pause: 2 * LEASE,
            redis_every: Duration::from_millis(800),
        },
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_happens_once_or_is_reported_as_unknown() {
    let findings = run::run(options(fleet("once"), 400)).await;
    let findings = findings.expect("the fleet runs");
    assert!(findings.violations.is_empty(), "{findings}");
    assert!(findings.table.count(Column::Completed) > 200, "{findings}");
}

/// States from before Redis lost its data are refused, so nothing happens twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn states_from_before_redis_forgot_are_refused() {
    let mut fleet = fleet("forgetful");
    fleet.is_durable = false;
    let ended = scenario::forget_between_rounds(fleet).await;
    let (said, violations) = ended.expect("it ends");
    assert_eq!(violations, []);
    for why in said {
        assert!(why.contains("requestState was rejected"), "{why}");
    }
}

/// States from before Redis lost its data are refused, so still nothing happens twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_happens_twice_if_redis_forgets() {
    let mut fleet = fleet("forgetting");
    fleet.is_durable = false;
    let findings = run::run(options(fleet, 400)).await;
    let findings = findings.expect("the fleet runs");
    assert!(findings.violations.is_empty(), "{findings}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_of_a_node_that_died_is_not_run_again() {
    let ended = scenario::kill_in_step(fleet("guarded")).await;
    let (end, violations) = ended.expect("it ends");
    assert_eq!(violations, []);
    let End::Reported(report) = end else {
        panic!("it ended differently: {end:?}");
    };
    let steps: Vec<&str> = report.effects.keys().map(String::as_str).collect();
    assert_eq!(steps, ["charge", "reserve", "ship"], "it was found out");
}

/// The same without journals: the checker must notice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checker_notices_nodes_without_journals() {
    let mut fleet = fleet("unguarded");
    fleet.is_unguarded = true;
    let ended = scenario::kill_in_step(fleet).await;
    let (_, violations) = ended.expect("it ends");
    let messages: Vec<&str> = violations.iter().map(|it| &*it.message).collect();
    assert_eq!(
        messages,
        [
            "step charge happened 2 times in one course",
            "step charge happened 2 times"
        ]
    );
}

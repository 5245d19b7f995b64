//! A run: clients use a fleet while it is disturbed, and everything is judged.

use std::{
    fmt, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinSet};

use crate::{
    checker::{Evidence, Table, Violation, check},
    client::Client,
    faults::FaultPlan,
    fleet::{Fleet, FleetOptions},
    outcome::Outcome,
    random::Random,
};

/// What is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The fleet.
    pub fleet: FleetOptions,
    /// How many calls are made.
    pub conversations: usize,
    /// How many clients make them.
    pub clients: usize,
    /// What is done meanwhile.
    pub faults: FaultPlan,
}

/// What was found.
#[derive(Debug)]
pub struct Findings {
    /// How the calls ended.
    pub table: Table,
    /// The promises that were broken.
    pub violations: Vec<Violation>,
    /// How many effects there were.
    pub effects: usize,
    /// What was done to the fleet.
    pub faults: String,
    /// How long it took.
    pub elapsed: Duration,
    /// How many calls there were.
    pub conversations: usize,
}

/// Runs a fleet and judges what happened.
///
/// # Errors
///
/// Returns an error if the fleet cannot be started or kept running.
pub async fn run(options: RunOptions) -> io::Result<Findings> {
    let start = Instant::now();
    let is_durable = options.fleet.is_durable;
    let random = Random::new(options.fleet.seed);
    let fleet = Fleet::start(options.fleet).await?;
    let name = |number| format!("call-{number}");
    let planned: Vec<String> = (0..options.conversations).map(name).collect();
    let planned: Arc<[String]> = planned.into();
    let (end, ended) = watch::channel(false);
    let calls = async {
        let outcomes = make_calls(&fleet, &planned, options.clients, &random).await;
        end.send_replace(true);
        outcomes
    };
    let disturbed = options.faults.disturb(&fleet, &random, &ended);
    let (outcomes, disturbed) = tokio::join!(calls, disturbed);
    disturbed?;
    let faults = faults_of(&fleet);
    let log = fleet.end().await?;
    let violations = check(&Evidence {
        log: &log,
        planned: &planned,
        outcomes: &outcomes,
        is_durable,
    });
    Ok(Findings {
        table: Table::of(&outcomes),
        violations,
        effects: log.len(),
        faults,
        elapsed: start.elapsed(),
        conversations: planned.len(),
    })
}

/// Lets clients make all calls.
async fn make_calls(
    fleet: &Fleet,
    planned: &Arc<[String]>,
    clients: usize,
    random: &Random,
) -> Vec<Outcome> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut running = JoinSet::new();
    for number in 0..clients {
        let mut client = Client::new(fleet.address, random.fork(1000 + number as u64));
        let (next, planned) = (Arc::clone(&next), Arc::clone(planned));
        running.spawn(async move {
            let mut outcomes = Vec::new();
            while let Some(name) = planned.get(next.fetch_add(1, Ordering::Relaxed)) {
                outcomes.push(client.call(name).await);
            }
            outcomes
        });
    }
    running.join_all().await.into_iter().flatten().collect()
}

fn faults_of(fleet: &Fleet) -> String {
    let (counts, disturbance) = (&fleet.counts, &fleet.disturbance);
    let of = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    format!(
        "{} nodes killed, {} paused, {} restarts of Redis, {} connections cut and {} delayed, \
         {} connections to Redis cut",
        of(&counts.kills),
        of(&counts.pauses),
        of(&counts.redis_restarts),
        of(&disturbance.cuts),
        of(&disturbance.delays),
        of(&disturbance.redis_cuts),
    )
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64();
        writeln!(
            f,
            "{} calls in {seconds:.1} s, {} effects; {}",
            self.conversations, self.effects, self.faults
        )?;
        writeln!(f, "{}", self.table)?;
        for violation in &self.violations {
            writeln!(f, "VIOLATION {violation}")?;
        }
        write!(f, "{} violations", self.violations.len())
    }
}

/// Returns a folder of its own for a fleet.
#[must_use]
pub fn new_folder(name: &str) -> PathBuf {
    let name = format!("bowline-fleet-{name}-{}", std::process::id());
    std::env::temp_dir().join(name)
}

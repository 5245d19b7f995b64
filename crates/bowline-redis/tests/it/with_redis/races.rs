//! Nodes that race, with connections that are cut at any moment.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use bowline::server::store::{
    AppendOutcome, ConversationKey, JournalStore as _, Lease, NewEntry, StoreError,
};
use bowline_redis::{RedisJournalStore, RedisStores};
use bytes::Bytes;
use tokio::task::JoinSet;

use super::{
    proxy::Proxy,
    rig::{HOUR, Redis},
};

const NODES: usize = 3;
const ROUNDS: u64 = 300;

/// A sequence of numbers that a seed determines.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

fn seed() -> u64 {
    let given = std::env::var("PROPTEST_RNG_SEED").ok();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.expect("a clock").as_nanos() as u64;
    given.and_then(|seed| seed.parse().ok()).unwrap_or(now)
}

type Outcome = (String, Result<AppendOutcome, StoreError>);

/// All nodes append at one position at the same time.
async fn race(nodes: &[Arc<RedisJournalStore>], position: u64, cut: impl FnOnce()) -> Vec<Outcome> {
    let mut writers = JoinSet::new();
    for (number, node) in nodes.iter().enumerate() {
        let (node, value) = (Arc::clone(node), format!("{number} at {position}"));
        writers.spawn(async move {
            let key = ConversationKey::new("1", "");
            let entry = NewEntry::new(position, value.clone(), HOUR);
            (value, node.append(key, entry).await)
        });
    }
    tokio::task::yield_now().await;
    cut();
    writers.join_all().await
}

/// Of the nodes that append at one position, one wins, whatever happens to their
/// connections; the journal has its entry, and who lost is told so.
#[tokio::test]
async fn one_node_wins_each_position() {
    let seed = seed();
    let mut numbers = Numbers(seed);
    let redis = Redis::start();
    let proxy = Proxy::start(&redis.socket());
    let mut nodes = Vec::new();
    for _ in 0..NODES {
        let stores = RedisStores::connect(&proxy.url()).await.expect("it runs");
        nodes.push(stores.journals());
    }
    let mut won: BTreeMap<u64, Vec<Outcome>> = BTreeMap::new();
    let mut position = 0;
    for _ in 0..ROUNDS {
        let what = numbers.below(4);
        let outcomes = race(&nodes, position, || match what {
            0 => proxy.cut_request(),
            1 => proxy.cut_answer(),
            _ => {}
        });
        let outcomes = outcomes.await;
        let winners = outcomes
            .iter()
            .filter(|(_, outcome)| matches!(outcome, Ok(AppendOutcome::Appended)));
        let winners = winners.count();
        let unknown = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
        assert!(
            winners <= 1,
            "{winners} nodes won position {position}, seed {seed}"
        );
        assert!(
            winners + unknown.count() >= 1,
            "nobody won {position}, seed {seed}"
        );
        won.insert(position, outcomes);
        position += 1;
    }
    let reader = redis.stores().await.journals();
    let opened = reader.open(ConversationKey::new("1", ""), 0, Lease::new("reader", HOUR));
    let opened = opened.await.expect("it works");
    assert_eq!(opened.next_position, position, "seed {seed}");
    for (position, outcomes) in won {
        let entry: &Bytes = &opened.entries[position as usize];
        let written = outcomes.iter().find(|(value, _)| entry == value.as_bytes());
        let Some((_, outcome)) = written else {
            panic!("nobody wrote what is at {position}, seed {seed}");
        };
        let is_told = !matches!(outcome, Ok(AppendOutcome::Conflict));
        assert!(
            is_told,
            "who wrote {position} was told otherwise, seed {seed}"
        );
    }
}

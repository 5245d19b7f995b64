//! The contract of journal stores.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    LONG_TTL, Nodes, WRITERS,
    expiry::{EXPIRY_GRACE, Timing, poll_until, with_short_ttl},
    repeat, succeed, unique_id,
};
use crate::server::store::{
    AppendOutcome, ConversationKey, JournalStore, Lease, NewEntry, OpenedJournal,
};

/// Checks that a [`JournalStore`] does what conversations rely on.
///
/// 1. A position is written once: of all writers that append there, on all
///    nodes, exactly one succeeds, and its entry stays. There are no gaps.
/// 2. Every node reads all entries, byte by byte, in their order.
/// 3. Positions stay taken when the entries before them are dropped.
/// 4. The journals of different conversations and callers are separate.
/// 5. A lease has one holder until it expires, is released, or the last entry
///    is appended. Only its holder renews and releases it.
/// 6. A journal is kept for the `ttl` of its last entry at least, whatever
///    happens to its lease.
///
/// It does not check what the trait leaves to the store: whether two writers
/// that open at the same moment both believe they have the lease, how much
/// longer a journal is kept, and whether responses are dropped early.
///
/// `connect` returns one node's connection to the store. It is called more than
/// once, and every connection must reach the same data; see the
/// [module](crate::testing::contract).
///
/// ```
/// use std::sync::Arc;
///
/// use bowline::{server::store::MemoryJournalStore, testing::contract};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// let store = Arc::new(MemoryJournalStore::new());
/// contract::journal_store(async || Arc::clone(&store)).await;
/// # });
/// ```
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn journal_store<S: JournalStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let nodes = Nodes::connect(connect).await;
    nodes_share_an_instance(&nodes);
    positions_are_written_once(&nodes).await;
    entries_are_read_from_any_position(&nodes).await;
    values_are_kept_byte_by_byte(&nodes).await;
    positions_stay_taken_after_truncation(&nodes).await;
    journals_are_separate(&nodes).await;
    one_writer_wins_a_position(&nodes).await;
    only_the_holder_releases_a_lease(&nodes).await;
    the_last_entry_ends_the_lease(&nodes).await;
    waiting_blocks_nothing(&nodes).await;
    with_short_ttl(async |lease| leases_expire(&nodes, lease).await).await;
    with_short_ttl(async |ttl| journals_are_kept_for_their_ttl(&nodes, ttl).await).await;
}

/// The journal of one conversation.
struct Journal<'a, S: ?Sized> {
    nodes: &'a Nodes<S>,
    id: String,
    account: String,
}

impl<'a, S: JournalStore + ?Sized> Journal<'a, S> {
    fn new(nodes: &'a Nodes<S>) -> Self {
        Self::of_account(nodes, String::new())
    }

    fn of_account(nodes: &'a Nodes<S>, account: String) -> Self {
        let id = unique_id();
        Self { nodes, id, account }
    }

    fn key(&self) -> ConversationKey<'_> {
        ConversationKey::new(&self.id, &self.account)
    }

    async fn append(&self, entry: NewEntry) -> AppendOutcome {
        succeed("append", self.nodes.first().append(self.key(), entry)).await
    }

    /// Appends an entry that must be accepted.
    async fn append_next(&self, entry: NewEntry) {
        let position = entry.position;
        assert_eq!(
            self.append(entry).await,
            AppendOutcome::Appended,
            "`append` returned `Conflict` at {position}, the next position of the journal"
        );
    }

    /// Reads what the other node has written.
    async fn read(&self, from: u64) -> OpenedJournal {
        let holder = unique_id();
        let opened = self.open(from, Lease::new(&holder, LONG_TTL)).await;
        if opened.acquired {
            self.release(&holder).await;
        }
        opened
    }

    async fn open(&self, from: u64, lease: Lease<'_>) -> OpenedJournal {
        succeed("open", self.nodes.second().open(self.key(), from, lease)).await
    }

    async fn acquires(&self, lease: Lease<'_>) -> bool {
        self.open(0, lease).await.acquired
    }

    async fn renew(&self, lease: Lease<'_>) {
        succeed("renew", self.nodes.first().renew(self.key(), lease)).await;
    }

    async fn release(&self, holder: &str) {
        succeed("release", self.nodes.first().release(self.key(), holder)).await;
    }
}

fn entry(position: u64, value: impl Into<Bytes>) -> NewEntry {
    NewEntry::new(position, value, LONG_TTL)
}

fn last_entry(position: u64, value: &'static str, response: &'static str) -> NewEntry {
    let mut entry = entry(position, value);
    entry.truncate = true;
    entry.response = Some(response.into());
    entry
}

fn nodes_share_an_instance<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    assert_eq!(
        nodes.first().instance_id(),
        nodes.second().instance_id(),
        "two connections have different instance ids; every connection must reach the same data"
    );
}

async fn positions_are_written_once<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let journal = Journal::new(nodes);
    for (position, end) in [(1, 0), (2, 1)] {
        assert_eq!(
            journal.append(entry(position, "gap")).await,
            AppendOutcome::Conflict,
            "an entry was appended at {position}, beyond the end of the journal at {end}"
        );
        journal.append_next(entry(end, "first")).await;
        let opened = journal.read(0).await;
        assert_eq!(
            opened.entries,
            ["first", "first"][..=end as usize],
            "an entry that was appended at one node is missing at another"
        );
        assert_eq!(
            opened.next_position, position,
            "`next_position` is not the number of entries"
        );
    }
    for value in ["first", "second"] {
        assert_eq!(
            journal.append(entry(1, value)).await,
            AppendOutcome::Conflict,
            "a position was written twice: it has an entry, and `append` returned `Appended`"
        );
    }
    assert_eq!(
        journal.read(0).await.entries,
        ["first", "first"],
        "an entry was overwritten by one that was refused"
    );
}

async fn entries_are_read_from_any_position<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let journal = Journal::new(nodes);
    let opened = journal.read(0).await;
    assert!(
        opened.next_position == 0 && opened.entries.is_empty() && opened.response.is_none(),
        "a journal that does not exist is not empty: {opened:?}"
    );
    // More than nine, so their order is that of numbers, not of digits.
    let all: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    for (position, value) in (0..).zip(&all) {
        journal.append_next(entry(position, value.clone())).await;
    }
    for from in 0..=all.len() + 1 {
        let opened = journal.read(from as u64).await;
        let expected = all.get(from..).unwrap_or_default();
        assert_eq!(
            opened.entries,
            expected,
            "`open` from position {from} of {} did not return the entries from there on",
            all.len()
        );
        assert_eq!(
            opened.next_position,
            all.len() as u64,
            "`next_position` depends on the position that was asked for"
        );
        assert_eq!(
            opened.response, None,
            "a journal without a last entry has a response"
        );
    }
}

async fn values_are_kept_byte_by_byte<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let mut journal = Journal::of_account(nodes, unique_id());
    // As long as ids may be.
    journal.id = format!("{}/{}", journal.id, unique_id());
    let values = [
        Bytes::new(),
        Bytes::from_iter(0..=255),
        Bytes::from(vec![7; 70_000]),
    ];
    for (position, value) in (0..).zip(&values) {
        journal.append_next(entry(position, value.clone())).await;
    }
    let read = journal.read(0).await.entries;
    for (index, value) in values.iter().enumerate() {
        assert!(
            read.get(index) == Some(value),
            "an entry of {} bytes was altered: values are bytes, not text, and may be empty",
            value.len()
        );
    }
}

async fn positions_stay_taken_after_truncation<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let journal = Journal::new(nodes);
    journal.append_next(entry(0, "0")).await;
    let mut truncating = entry(1, "1");
    truncating.truncate = true;
    journal.append_next(truncating).await;
    journal.append_next(entry(2, "2")).await;
    let opened = journal.read(1).await;
    assert_eq!(
        (&*opened.entries, opened.next_position),
        (&["1".into(), "2".into()][..], 3),
        "a truncated journal does not have the entries from the truncation on"
    );
    let kept = journal.read(0).await.entries;
    assert!(
        ["0", "1", "2"].map(Bytes::from).ends_with(&kept),
        "a truncated journal returned entries that are not its last ones"
    );
    assert_eq!(
        journal.append(entry(0, "x")).await,
        AppendOutcome::Conflict,
        "a position is free again after its entry was dropped"
    );
}

async fn journals_are_separate<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let account = unique_id();
    let mut journals = [&*account, &account, &unique_id(), ""]
        .map(|account| Journal::of_account(nodes, account.to_owned()));
    // Part of another one's id.
    journals[1].id = format!("{}/{}", journals[0].id, unique_id());
    for journal in &journals {
        assert_eq!(
            journal.append(entry(0, journal.id.clone())).await,
            AppendOutcome::Appended,
            "a journal has the entries of another conversation or caller"
        );
    }
    for journal in &journals {
        assert_eq!(
            journal.read(0).await.entries,
            [&*journal.id],
            "a journal has the entries of another conversation or caller"
        );
    }
}

async fn one_writer_wins_a_position<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let journal = Journal::new(nodes);
    repeat(async |position| {
        let position = position as u64;
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let (store, id) = (nodes.of_writer(number), journal.id.clone());
            let entry = entry(position, number.to_string());
            writers.spawn(async move {
                let key = ConversationKey::new(&id, "");
                (number, succeed("append", store.append(key, entry)).await)
            });
        }
        let outcomes = writers.join_all().await;
        let appended = |(_, outcome): &&(usize, AppendOutcome)| *outcome == AppendOutcome::Appended;
        let winners: Vec<_> = outcomes.iter().filter(appended).collect();
        let [(winner, _)] = *winners else {
            panic!(
                "of {WRITERS} writers that appended at one position at the same time, {} got \
                 `Appended`; exactly one must",
                winners.len()
            );
        };
        assert_eq!(
            journal.read(position).await.entries,
            [winner.to_string()],
            "the entry of a writer that got `Conflict` was written"
        );
    })
    .await;
}

async fn only_the_holder_releases_a_lease<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let (journal, ours, theirs) = (Journal::new(nodes), unique_id(), unique_id());
    // Nobody has it: nothing happens.
    journal.release(&ours).await;
    assert!(
        journal.acquires(Lease::new(&ours, LONG_TTL)).await,
        "`open` did not acquire a lease that nobody has"
    );
    assert!(
        !journal.acquires(Lease::new(&theirs, LONG_TTL)).await,
        "a lease was given to a second holder"
    );
    journal.append_next(entry(0, "0")).await;
    journal.release(&theirs).await;
    assert!(
        !journal.acquires(Lease::new(&theirs, LONG_TTL)).await,
        "a lease was released by someone who does not hold it"
    );
    journal.release(&ours).await;
    let opened = journal.open(0, Lease::new(&theirs, LONG_TTL)).await;
    assert!(opened.acquired, "a lease that was released is still held");
    assert_eq!(
        opened.next_position, 1,
        "entries were lost when their lease was released"
    );
}

async fn the_last_entry_ends_the_lease<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let (journal, ours, theirs) = (Journal::new(nodes), unique_id(), unique_id());
    assert!(
        journal.acquires(Lease::new(&ours, LONG_TTL)).await,
        "`open` did not acquire a lease that nobody has"
    );
    journal.append_next(entry(0, "0")).await;
    assert!(
        !journal.acquires(Lease::new(&theirs, LONG_TTL)).await,
        "an entry without a response ended the lease"
    );
    journal.append_next(last_entry(1, "end", "42")).await;
    let opened = journal.open(0, Lease::new(&theirs, LONG_TTL)).await;
    assert!(
        opened.acquired,
        "the last entry, the one with a response, did not end the lease"
    );
    assert_eq!(
        (opened.entries.last(), opened.next_position),
        (Some(&"end".into()), 2),
        "the last entry is missing"
    );
    assert!(
        opened.response.is_none_or(|response| response == "42"),
        "the response is not the one that was stored with the last entry"
    );
}

async fn waiting_blocks_nothing<S: JournalStore + ?Sized>(nodes: &Nodes<S>) {
    let (journal, holder) = (Journal::new(nodes), unique_id());
    journal.open(0, Lease::new(&holder, LONG_TTL)).await;
    let mut waiting = JoinSet::new();
    let (store, id) = (nodes.of_writer(0), journal.id.clone());
    waiting.spawn(async move { store.wait_for_change(ConversationKey::new(&id, "")).await });
    tokio::task::yield_now().await;
    // Both fail by their timeout if the wait holds a lock.
    journal.append_next(entry(0, "0")).await;
    journal.release(&holder).await;
}

/// A lease has one holder until it expires, however often others ask for it.
async fn leases_expire<S: JournalStore + ?Sized>(nodes: &Nodes<S>, duration: Duration) -> Timing {
    let (journal, first, second) = (Journal::new(nodes), unique_id(), unique_id());
    let (ours, theirs) = (Lease::new(&first, duration), Lease::new(&second, duration));
    journal.append_next(entry(0, "0")).await;
    let acquired = Instant::now();
    for _ in 0..2 {
        assert!(
            journal.acquires(ours).await,
            "the holder of a lease could not open the journal again"
        );
    }
    let is_taken = journal.acquires(theirs).await;
    if Instant::now() >= acquired + duration {
        return Timing::TooSlow;
    }
    assert!(!is_taken, "a lease was given to a second holder");
    sleep_until(acquired + duration / 2).await;
    journal.renew(theirs).await;
    let renewed = Instant::now();
    journal.renew(ours).await;
    if Instant::now() >= acquired + duration {
        return Timing::TooSlow;
    }
    sleep_until(acquired + duration * 5 / 4).await;
    let is_taken = journal.acquires(theirs).await;
    if Instant::now() >= renewed + duration {
        return Timing::TooSlow;
    }
    assert!(
        !is_taken,
        "a lease that was renewed was given to another holder"
    );
    let is_free = poll_until(async || journal.acquires(theirs).await).await;
    assert!(
        is_free,
        "a lease was still held {EXPIRY_GRACE:?} after it expired; its holder may have died"
    );
    leases_are_lost_for_good(&journal, ours, theirs).await
}

/// Continues when the second holder has acquired the lease.
async fn leases_are_lost_for_good<S: JournalStore + ?Sized>(
    journal: &Journal<'_, S>,
    ours: Lease<'_>,
    theirs: Lease<'_>,
) -> Timing {
    let acquired = Instant::now();
    journal.renew(theirs).await;
    journal.renew(ours).await;
    let is_taken = journal.acquires(ours).await;
    if Instant::now() >= acquired + theirs.duration {
        return Timing::TooSlow;
    }
    assert!(
        !is_taken,
        "a lease was renewed by its previous holder after another one acquired it"
    );
    journal.release(theirs.holder).await;
    journal.renew(theirs).await;
    let opened = journal.open(0, ours).await;
    assert!(opened.acquired, "a lease was renewed after it was released");
    assert_eq!(
        opened.next_position, 1,
        "a journal was dropped with its lease, before the ttl of its last entry"
    );
    Timing::Conclusive
}

async fn journals_are_kept_for_their_ttl<S: JournalStore + ?Sized>(
    nodes: &Nodes<S>,
    ttl: Duration,
) -> Timing {
    let journal = Journal::new(nodes);
    let first = Instant::now();
    journal.append_next(NewEntry::new(0, "0", ttl)).await;
    sleep_until(first + ttl / 2).await;
    let second = Instant::now();
    let outcome = journal.append(NewEntry::new(1, "1", ttl)).await;
    if Instant::now() >= first + ttl {
        return Timing::TooSlow;
    }
    assert_eq!(
        outcome,
        AppendOutcome::Appended,
        "a journal was dropped before the ttl of its last entry"
    );
    sleep_until(second + ttl * 3 / 4).await;
    let opened = journal.read(0).await;
    if Instant::now() >= second + ttl {
        return Timing::TooSlow;
    }
    assert_eq!(
        opened.entries,
        ["0", "1"],
        "a journal was dropped before the ttl of its last entry"
    );
    Timing::Conclusive
}

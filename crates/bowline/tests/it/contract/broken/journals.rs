//! Journal stores that break their contract.

use std::{sync::Arc, time::Duration};

use bowline::{
    server::store::{
        AppendOutcome, ConversationKey, JournalStore, Lease, NewEntry, OpenedJournal, StoreError,
    },
    testing::contract,
    transport::BoxFuture,
};
use bytes::Bytes;
use tokio::time::Instant;

use super::{Table, check, violation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    LosesWrites,
    LosesWritesOfOthers,
    Overwrites,
    OverwritesSilently,
    AllowsGaps,
    ReadsThenWrites,
    IgnoresFrom,
    SortsAsText,
    FreesTruncatedPositions,
    KeepsText,
    ReturnsCallersData,
    InventsResponses,
    GivesLeaseToAll,
    ForgetsHolder,
    LetsLeaseExpireEarly,
    NeverEndsLease,
    RenewsForAnyone,
    RenewsReleased,
    ReleasesForAnyone,
    KeepsReleased,
    KeepsLeaseAfterEnd,
    DropsJournalWithLease,
    DropsJournalEarly,
    BlocksWhileWaiting,
    Fails,
}

#[test]
fn each_fault_is_rejected_with_its_sentence() {
    let connect = |fault| {
        let table = Arc::new(Table::default());
        move |node| Journals {
            fault,
            node,
            table: Table(Arc::clone(&table.0)),
            busy: tokio::sync::RwLock::new(()),
        }
    };
    check(&SENTENCES, |fault| {
        let (connect, nodes) = (connect(fault), std::cell::Cell::new(0));
        violation(|| async move {
            let connect = async || {
                nodes.set(nodes.get() + 1);
                Arc::new(connect(nodes.get()))
            };
            contract::journal_store(connect).await;
        })
    });
}

const SENTENCES: [(Fault, &str); 25] = [
    (
        Fault::LosesWrites,
        "an entry that was appended at one node is missing at another",
    ),
    (
        Fault::LosesWritesOfOthers,
        "an entry that was appended at one node is missing at another",
    ),
    (
        Fault::Overwrites,
        "a position was written twice: it has an entry, and `append` returned `Appended`",
    ),
    (
        Fault::OverwritesSilently,
        "an entry was overwritten by one that was refused",
    ),
    (
        Fault::AllowsGaps,
        "an entry was appended at 1, beyond the end of the journal at 0",
    ),
    (
        Fault::ReadsThenWrites,
        "of 8 writers that appended at one position at the same time, 8 got `Appended`; \
         exactly one must",
    ),
    (
        Fault::IgnoresFrom,
        "`open` from position 1 of 12 did not return the entries from there on",
    ),
    (
        Fault::SortsAsText,
        "`open` from position 0 of 12 did not return the entries from there on",
    ),
    (
        Fault::FreesTruncatedPositions,
        "a position is free again after its entry was dropped",
    ),
    (Fault::KeepsText, "an entry of 256 bytes was altered"),
    (
        Fault::ReturnsCallersData,
        "a journal has the entries of another conversation or caller",
    ),
    (
        Fault::InventsResponses,
        "a journal without a last entry has a response",
    ),
    (
        Fault::GivesLeaseToAll,
        "a lease was given to a second holder",
    ),
    (
        Fault::ForgetsHolder,
        "the holder of a lease could not open the journal again",
    ),
    (
        Fault::LetsLeaseExpireEarly,
        "a lease that was renewed was given to another holder",
    ),
    (
        Fault::NeverEndsLease,
        "a lease was still held 30s after it expired",
    ),
    (
        Fault::RenewsForAnyone,
        "a lease was renewed by its previous holder after another one acquired it",
    ),
    (
        Fault::RenewsReleased,
        "a lease was renewed after it was released",
    ),
    (
        Fault::ReleasesForAnyone,
        "a lease was released by someone who does not hold it",
    ),
    (
        Fault::KeepsReleased,
        "a lease that was released is still held",
    ),
    (
        Fault::KeepsLeaseAfterEnd,
        "the last entry, the one with a response, did not end the lease",
    ),
    (
        Fault::DropsJournalWithLease,
        "a journal was dropped with its lease, before the ttl of its last entry",
    ),
    (
        Fault::DropsJournalEarly,
        "a journal was dropped before the ttl of its last entry",
    ),
    (
        Fault::BlocksWhileWaiting,
        "`append` did not return within 30s",
    ),
    (
        Fault::Fails,
        "`append` failed: no connection: the disk is full",
    ),
];

/// One node's connection to the table.
struct Journals {
    fault: Option<Fault>,
    node: u32,
    table: Table<String, Row>,
    busy: tokio::sync::RwLock<()>,
}

#[derive(Clone, Default)]
struct Row {
    first: u64,
    entries: Vec<Bytes>,
    response: Option<Bytes>,
    lease: Option<(String, Instant)>,
    expires_at: Option<Instant>,
    last_writer: u32,
}

impl Row {
    fn next_position(&self) -> u64 {
        self.first + self.entries.len() as u64
    }
}

impl Journals {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn name(&self, key: ConversationKey<'_>) -> String {
        if self.has(Fault::ReturnsCallersData) && !key.account.is_empty() {
            return key.account.to_owned();
        }
        key.id.to_owned()
    }

    fn row(&self, key: ConversationKey<'_>) -> Row {
        let row = self.table.get(&self.name(key)).unwrap_or_default();
        let end_of_lease = row.lease.as_ref().map(|(_, end)| *end);
        let ends = match self.has(Fault::DropsJournalWithLease) {
            true => [row.expires_at, end_of_lease],
            false => [row.expires_at, None],
        };
        let is_over = ends.iter().flatten().any(|end| *end <= Instant::now());
        if is_over { Row::default() } else { row }
    }

    fn put(&self, key: ConversationKey<'_>, row: Row) {
        self.table.put(self.name(key), row);
    }

    fn acquire(&self, row: &mut Row, lease: Lease<'_>) -> bool {
        let now = Instant::now();
        let is_other = |(holder, end): &(String, Instant)| {
            let is_same = holder == lease.holder && !self.has(Fault::ForgetsHolder);
            !is_same && (*end > now || self.has(Fault::NeverEndsLease))
        };
        if row.lease.as_ref().is_some_and(is_other) && !self.has(Fault::GivesLeaseToAll) {
            return false;
        }
        let duration = match lease.duration {
            short if self.has(Fault::LetsLeaseExpireEarly) => short * 2 / 3,
            duration => duration,
        };
        row.lease = Some((lease.holder.to_owned(), now + duration));
        true
    }

    fn opened(&self, row: &Row, from: u64) -> OpenedJournal {
        let mut opened = OpenedJournal::new(row.next_position());
        let is_lost = self.has(Fault::LosesWritesOfOthers) && row.last_writer != self.node;
        if is_lost {
            return OpenedJournal::new(0);
        }
        let known = from.saturating_sub(row.first) as usize;
        let known = if self.has(Fault::IgnoresFrom) {
            0
        } else {
            known
        };
        opened.entries = row.entries.clone();
        if self.has(Fault::SortsAsText) {
            opened.entries.sort();
        }
        opened.entries.drain(..known.min(row.entries.len()));
        if self.has(Fault::KeepsText) {
            let text = |entry: &Bytes| String::from_utf8_lossy(entry).into_owned().into();
            opened.entries = opened.entries.iter().map(text).collect();
        }
        opened.response.clone_from(&row.response);
        if self.has(Fault::InventsResponses) {
            opened.response = opened.entries.first().cloned();
        }
        opened
    }

    fn write(&self, row: &mut Row, entry: NewEntry) -> AppendOutcome {
        let next = row.next_position();
        let is_gap = entry.position > next && !self.has(Fault::AllowsGaps);
        let is_free = match self.fault {
            Some(Fault::Overwrites) => true,
            Some(Fault::FreesTruncatedPositions) => entry.position < row.first,
            _ => false,
        };
        let is_taken = entry.position < next && !is_free;
        if is_taken && self.has(Fault::OverwritesSilently) {
            row.entries[(entry.position - row.first) as usize] = entry.value;
            return AppendOutcome::Conflict;
        }
        if is_gap || is_taken {
            return AppendOutcome::Conflict;
        }
        if entry.truncate {
            row.first = entry.position;
            row.entries.clear();
        }
        if !self.has(Fault::LosesWrites) {
            row.entries.push(entry.value);
        }
        let ttl = match entry.ttl {
            short if self.has(Fault::DropsJournalEarly) => short / 2,
            ttl => ttl,
        };
        (row.expires_at, row.last_writer) = (Some(Instant::now() + ttl), self.node);
        if entry.response.is_some() && !self.has(Fault::KeepsLeaseAfterEnd) {
            row.lease = None;
        }
        row.response = entry.response;
        AppendOutcome::Appended
    }
}

impl JournalStore for Journals {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        Box::pin(async move {
            let mut row = self.row(key);
            let acquired = self.acquire(&mut row, lease);
            let mut opened = self.opened(&row, from);
            opened.acquired = acquired;
            self.put(key, row);
            Ok(opened)
        })
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        Box::pin(async move {
            let _turn = self.busy.read().await;
            if self.has(Fault::Fails) {
                let cause = std::io::Error::other("the disk is full");
                return Err(StoreError::new("no connection").with_source(cause));
            }
            let mut row = self.row(key);
            if self.has(Fault::ReadsThenWrites) {
                tokio::task::yield_now().await;
            }
            let outcome = self.write(&mut row, entry);
            self.put(key, row);
            Ok(outcome)
        })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut row = self.row(key);
            let known = row.lease.as_ref();
            let is_held = known.is_some_and(|(holder, _)| holder == lease.holder)
                || known.is_none() && self.has(Fault::RenewsReleased);
            if is_held {
                self.acquire(&mut row, lease);
            } else if self.has(Fault::RenewsForAnyone) {
                let end = Instant::now() + lease.duration;
                row.lease = Some((lease.holder.to_owned(), end));
            }
            self.put(key, row);
            Ok(())
        })
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut row = self.row(key);
            let is_held = row.lease.as_ref().is_some_and(|(known, _)| known == holder)
                || self.has(Fault::ReleasesForAnyone);
            if is_held && !self.has(Fault::KeepsReleased) {
                row.lease = None;
            }
            self.put(key, row);
            Ok(())
        })
    }

    fn wait_for_change<'a>(&'a self, _: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _turn = match self.has(Fault::BlocksWhileWaiting) {
                true => Some(self.busy.write().await),
                false => None,
            };
            tokio::time::sleep(Duration::MAX).await;
        })
    }
}

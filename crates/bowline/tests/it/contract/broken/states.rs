//! State stores that break their contract.

use std::{sync::Arc, time::Duration};

use bowline::{
    server::store::{ConversationKey, SealedStateStore, StoreError},
    testing::contract,
    transport::BoxFuture,
};
use bytes::Bytes;
use tokio::time::Instant;

use super::{Table, check, violation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    LosesWrites,
    KeepsTheFirst,
    LoadsOnce,
    KeepsText,
    ReturnsCallersData,
    ReadsThenWrites,
    IgnoresExpiry,
    ExpiresEarly,
    CountsFromTheFirst,
}

#[test]
fn each_fault_is_rejected_with_its_sentence() {
    let sentences = [
        (
            Fault::LosesWrites,
            "a state that was saved at one node is missing at another",
        ),
        (
            Fault::KeepsTheFirst,
            "`load` did not return the state that was saved last",
        ),
        (
            Fault::LoadsOnce,
            "is missing at another, or after it was loaded",
        ),
        (Fault::KeepsText, "a state of 256 bytes was altered"),
        (
            Fault::ReturnsCallersData,
            "`load` returned the state of another conversation or caller",
        ),
        (
            Fault::ReadsThenWrites,
            "a state was lost while others were saved at the same time",
        ),
        (
            Fault::IgnoresExpiry,
            "a state was still returned 30s after its ttl had passed",
        ),
        (
            Fault::ExpiresEarly,
            "a state was dropped before its ttl had passed",
        ),
        (
            Fault::CountsFromTheFirst,
            "a state that was written again was dropped with the ttl of the first write",
        ),
    ];
    check(&sentences, |fault| {
        let table = Table::default();
        let store = Arc::new(States { fault, table });
        violation(|| contract::sealed_state_store(async || Arc::clone(&store)))
    });
}

struct States {
    fault: Option<Fault>,
    table: Table<String, (Bytes, Instant)>,
}

impl States {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn name(&self, key: ConversationKey<'_>) -> String {
        if self.has(Fault::ReturnsCallersData) && !key.account.is_empty() {
            return key.account.to_owned();
        }
        key.id.to_owned()
    }
}

impl SealedStateStore for States {
    fn save<'a>(
        &'a self,
        key: ConversationKey<'a>,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (name, ttl) = match self.has(Fault::ExpiresEarly) {
                true => (self.name(key), ttl / 2),
                false => (self.name(key), ttl),
            };
            let (known, now) = (self.table.get(&name), Instant::now());
            let row = match known {
                Some(row) if self.has(Fault::KeepsTheFirst) => row,
                Some((_, end)) if self.has(Fault::CountsFromTheFirst) => (state, end),
                _ if self.has(Fault::KeepsText) => {
                    let text = String::from_utf8_lossy(&state).into_owned();
                    (text.into(), now + ttl)
                }
                _ => (state, now + ttl),
            };
            match self.fault {
                Some(Fault::LosesWrites) => {}
                Some(Fault::ReadsThenWrites) => self.table.put_slowly(name, row).await,
                _ => self.table.put(name, row),
            }
            Ok(())
        })
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        Box::pin(async move {
            let name = self.name(key);
            let row = self.table.get(&name);
            if self.has(Fault::LoadsOnce) {
                self.table.remove(&name);
            }
            let is_valid = |end| end > Instant::now() || self.has(Fault::IgnoresExpiry);
            let row = row.filter(|(_, end)| is_valid(*end));
            Ok(row.map(|(state, _)| state))
        })
    }
}

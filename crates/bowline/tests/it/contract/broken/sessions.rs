//! Session stores and event stores that break their contracts.

use std::{sync::Arc, time::Duration};

use bowline::{
    proto::http::SessionId,
    server::{
        http::{EventStore, SessionStore, StoredEvent, StoredSession},
        store::StoreError,
    },
    testing::contract,
    transport::BoxFuture,
};
use bytes::Bytes;
use tokio::time::Instant;

use super::{Table, check, violation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionFault {
    LosesWrites,
    AltersTheValue,
    LosesTheNode,
    LosesTheAccount,
    KeepsTheFirst,
    ReplacesThatOfAnotherNode,
    ReturnsAnothersSession,
    TakesOverNothing,
    TakesOverFromAnyone,
    TakesOverTwice,
    TakesOverWithoutTheValue,
    RemovesNothing,
    RemovesForAnyone,
    RemovesAll,
    ReadsThenWrites,
    IgnoresExpiry,
    ExpiresEarly,
}

#[test]
fn each_fault_of_a_session_store_is_rejected_with_its_sentence() {
    use SessionFault as Fault;
    let sentences = [
        (
            Fault::LosesWrites,
            "a session that was put at one node is missing at another",
        ),
        (Fault::AltersTheValue, "the value of a session was altered"),
        (Fault::LosesTheNode, "a session lost its node"),
        (Fault::LosesTheAccount, "a session lost its account"),
        (
            Fault::KeepsTheFirst,
            "`get` did not return the session that was put last",
        ),
        (
            Fault::ReplacesThatOfAnotherNode,
            "`put` replaced a session of another node",
        ),
        (
            Fault::ReturnsAnothersSession,
            "`get` returned a session that nobody put",
        ),
        (Fault::TakesOverNothing, "a session was not taken over"),
        (
            Fault::TakesOverFromAnyone,
            "a session was taken over from a node that it did not belong to",
        ),
        (
            Fault::TakesOverTwice,
            "after several nodes took over a session at the same time, not one of them has it",
        ),
        (
            Fault::TakesOverWithoutTheValue,
            "after it was taken over, a session has another value, or the old node",
        ),
        (
            Fault::RemovesNothing,
            "a session that was removed was returned",
        ),
        (
            Fault::RemovesForAnyone,
            "a session was removed by a node that it did not belong to",
        ),
        (
            Fault::RemovesAll,
            "a session was lost when another one was removed",
        ),
        (
            Fault::ReadsThenWrites,
            "a session was lost while others were put at the same time",
        ),
        (
            Fault::IgnoresExpiry,
            "a session was still returned 30s after its ttl had passed",
        ),
        (
            Fault::ExpiresEarly,
            "a session was dropped before its ttl had passed",
        ),
    ];
    check(&sentences, |fault| {
        let table = Table::default();
        let store = Arc::new(Sessions { fault, table });
        if fault == Some(Fault::ReturnsAnothersSession) {
            let end = Instant::now() + Duration::from_secs(3600);
            let id = SessionId::new("another").expect("an id");
            store.table.put(id, (session_of_another(), end));
        }
        violation(|| contract::session_store(async || Arc::clone(&store)))
    });
}

fn session_of_another() -> StoredSession {
    StoredSession {
        node: "another".to_owned(),
        account: String::new(),
        value: Bytes::new(),
    }
}

struct Sessions {
    fault: Option<SessionFault>,
    table: Table<SessionId, (StoredSession, Instant)>,
}

impl Sessions {
    fn has(&self, fault: SessionFault) -> bool {
        self.fault == Some(fault)
    }

    fn find(&self, id: &SessionId) -> Option<(StoredSession, Instant)> {
        let keeps = self.has(SessionFault::IgnoresExpiry);
        let row = self.table.get(id);
        row.filter(|(_, end)| keeps || *end > Instant::now())
    }
}

impl SessionStore for Sessions {
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        mut session: StoredSession,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let ttl = match self.fault {
                Some(SessionFault::ExpiresEarly) => ttl / 2,
                _ => ttl,
            };
            let known = self.find(id);
            let is_other = known.is_some_and(|(known, _)| known.node != session.node);
            if is_other && !self.has(SessionFault::ReplacesThatOfAnotherNode) {
                return Ok(false);
            }
            match self.fault {
                Some(SessionFault::AltersTheValue) => session.value.truncate(10),
                Some(SessionFault::LosesTheNode) => session.node.clear(),
                Some(SessionFault::LosesTheAccount) => session.account.clear(),
                _ => {}
            }
            let row = (session, Instant::now() + ttl);
            match self.fault {
                Some(SessionFault::LosesWrites) => {}
                Some(SessionFault::KeepsTheFirst) if self.table.get(id).is_some() => {}
                Some(SessionFault::ReadsThenWrites) => self.table.put_slowly(id.clone(), row).await,
                _ => self.table.put(id.clone(), row),
            }
            Ok(true)
        })
    }

    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let row = match self.fault {
                Some(SessionFault::ReturnsAnothersSession) => {
                    let rows = self.table.rows();
                    rows.first().map(|(_, row)| row.clone())
                }
                _ => self.find(id),
            };
            Ok(row.map(|(session, _)| session))
        })
    }

    fn take_over<'a>(
        &'a self,
        id: &'a SessionId,
        from: &'a str,
        to: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let anyone = self.has(SessionFault::TakesOverFromAnyone);
            let found = self.find(id).filter(|(it, _)| anyone || it.node == from);
            let Some((mut session, end)) = found else {
                return Ok(false);
            };
            if self.has(SessionFault::TakesOverNothing) && from != to {
                return Ok(false);
            }
            if self.has(SessionFault::TakesOverTwice) {
                tokio::task::yield_now().await;
            }
            if self.has(SessionFault::TakesOverWithoutTheValue) {
                session.value.clear();
            }
            to.clone_into(&mut session.node);
            self.table.put(id.clone(), (session, end));
            Ok(true)
        })
    }

    fn remove<'a>(
        &'a self,
        id: &'a SessionId,
        node: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let is_own = self.find(id).is_some_and(|(it, _)| it.node == node);
            match self.fault {
                Some(SessionFault::RemovesNothing) => {}
                Some(SessionFault::RemovesAll) if is_own => self.table.rows().clear(),
                Some(SessionFault::RemovesForAnyone) => self.table.remove(id),
                _ if is_own => self.table.remove(id),
                _ => {}
            }
            Ok(())
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventFault {
    LosesWrites,
    SortsAsText,
    IncludesTheKnown,
    LosesTheMark,
    AltersMessages,
    MixesStreams,
    MixesSessions,
    RemovesOneStream,
    RemovesAll,
    ReadsThenWrites,
    ExpiresEarly,
}

#[test]
fn each_fault_of_an_event_store_is_rejected_with_its_sentence() {
    use EventFault as Fault;
    let sentences = [
        (
            Fault::LosesWrites,
            "`events_after(0)` did not return the events after that one, in order",
        ),
        (
            Fault::SortsAsText,
            "`events_after(0)` did not return the events after that one, in order",
        ),
        (
            Fault::IncludesTheKnown,
            "`events_after(1)` did not return the events after that one, in order",
        ),
        (
            Fault::LosesTheMark,
            "an event of the standalone stream is no longer marked as such",
        ),
        (Fault::AltersMessages, "the message of an event was altered"),
        (
            Fault::MixesStreams,
            "`events_after` returned events of another stream or session",
        ),
        (
            Fault::MixesSessions,
            "`events_after` returned events of another stream or session",
        ),
        (
            Fault::RemovesOneStream,
            "events of a session that was removed were returned",
        ),
        (
            Fault::RemovesAll,
            "events were lost when another session was removed",
        ),
        (
            Fault::ReadsThenWrites,
            "events were lost while others were appended at the same time",
        ),
        (
            Fault::ExpiresEarly,
            "an event was dropped before its ttl had passed",
        ),
    ];
    check(&sentences, |fault| {
        let table = Table::default();
        let store = Arc::new(Events { fault, table });
        violation(|| contract::event_store(async || Arc::clone(&store)))
    });
}

/// An event is found by its session, its stream and its number.
type EventKey = (SessionId, String, u64);

struct Events {
    fault: Option<EventFault>,
    table: Table<EventKey, (StoredEvent, Instant)>,
}

impl Events {
    fn has(&self, fault: EventFault) -> bool {
        self.fault == Some(fault)
    }
}

impl EventStore for Events {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        mut event: StoredEvent,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let key = (session.clone(), event.stream.clone(), event.sequence);
            let ttl = match self.has(EventFault::ExpiresEarly) {
                true => ttl / 2,
                false => ttl,
            };
            if self.has(EventFault::LosesTheMark) {
                event.is_standalone = false;
            }
            if self.has(EventFault::AltersMessages) {
                event.message = event.message.trim_ascii().to_vec().into();
            }
            let row = (event, Instant::now() + ttl);
            match self.fault {
                Some(EventFault::LosesWrites) => {}
                Some(EventFault::ReadsThenWrites) => self.table.put_slowly(key, row).await,
                _ => self.table.put(key, row),
            }
            Ok(())
        })
    }

    fn events_after<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, StoreError>> {
        Box::pin(async move {
            let mut rows = self.table.rows().clone();
            rows.retain(|((in_session, in_stream, number), (_, end))| {
                let is_session = in_session == session || self.has(EventFault::MixesSessions);
                let is_stream = in_stream == stream
                    || self.has(EventFault::MixesStreams) && in_stream.starts_with(stream);
                let is_new = *number > sequence
                    || self.has(EventFault::IncludesTheKnown) && *number == sequence;
                is_session && is_stream && is_new && *end > Instant::now()
            });
            rows.sort_by_key(|((_, _, number), _)| *number);
            if self.has(EventFault::SortsAsText) {
                rows.sort_by_key(|((_, _, number), _)| number.to_string());
            }
            Ok(rows.into_iter().map(|(_, (event, _))| event).collect())
        })
    }

    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut rows = self.table.rows();
            match self.fault {
                Some(EventFault::RemovesAll) => rows.clear(),
                Some(EventFault::RemovesOneStream) => {
                    rows.retain(|((in_session, stream, _), _)| {
                        in_session != session || stream != "a"
                    });
                }
                _ => rows.retain(|((in_session, ..), _)| in_session != session),
            }
            Ok(())
        })
    }
}

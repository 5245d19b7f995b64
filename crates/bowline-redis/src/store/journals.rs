//! Journals.
//!
//! A journal is a hash: its entries by position, the next position, and its lease. It is
//! one key, so Redis keeps or loses all of it.

use std::sync::Arc;

use bowline::{
    server::store::{
        AppendOutcome, ConversationKey, JournalStore, Lease, NewEntry, OpenedJournal, StoreError,
    },
    transport::BoxFuture,
};

use crate::{
    connection::{Connection, optional_bytes},
    keys::Kind,
    limits::Limit,
    notices::Notices,
    script::{JOURNAL_APPEND, JOURNAL_OPEN, JOURNAL_RELEASE, JOURNAL_RENEW},
};

/// A [`JournalStore`] in Redis.
pub struct RedisJournalStore {
    pub(crate) connection: Arc<Connection>,
    pub(crate) notices: Arc<Notices>,
    pub(crate) limit: Limit,
}

impl RedisJournalStore {
    /// Returns the keys of scripts that need no quota.
    fn keys(&self, id: &str) -> [String; 3] {
        let keys = self.connection.keys();
        [
            keys.generation(),
            keys.item(Kind::Journal, id),
            keys.expiries(Kind::Journal),
        ]
    }
}

impl JournalStore for RedisJournalStore {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        Box::pin(async move {
            let call = JOURNAL_OPEN.call(self.keys(key.id)).text(key.id);
            let call = call.number(from).text(lease.holder).lease(lease.duration);
            let mut reply = self.connection.run(call).await?.ok()?;
            let mut opened = OpenedJournal::new(reply.number()?);
            opened.acquired = reply.number()? == 1;
            opened.response = reply.optional_bytes()?;
            for entry in reply.list()? {
                let lost = || StoreError::new("an entry of the journal is missing in Redis");
                opened
                    .entries
                    .push(optional_bytes(entry)?.ok_or_else(lost)?);
            }
            Ok(opened)
        })
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys().with_quota(Kind::Journal, key.id);
            let call = JOURNAL_APPEND
                .call(keys)
                .limited(key.account, &self.limit)
                .text(key.id)
                .number(entry.position)
                .bytes(&entry.value)
                .flag(entry.truncate)
                .flag(entry.response.is_some())
                .bytes(entry.response.as_deref().unwrap_or_default())
                .ttl(entry.ttl)
                .owned(self.connection.token());
            let reply = self.connection.run(call).await?;
            if reply.is("CONFLICT") {
                return Ok(AppendOutcome::Conflict);
            }
            reply.ok().map(|_| AppendOutcome::Appended)
        })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let call = JOURNAL_RENEW.call(self.keys(key.id)).text(key.id);
            let call = call.text(lease.holder).lease(lease.duration);
            self.connection.run(call).await?.ok().map(drop)
        })
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let [generation, journal, _] = self.keys(key.id);
            let call = JOURNAL_RELEASE.call([generation, journal]).text(holder);
            self.connection.run(call).await?.ok().map(drop)
        })
    }

    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        let channel = self.connection.keys().item(Kind::Journal, key.id);
        self.notices.wait(channel)
    }

    fn generation(&self) -> Option<Arc<str>> {
        Some(self.connection.generation())
    }
}

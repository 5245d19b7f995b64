//! A store of journals without its promise, to show that this is noticed.

use std::sync::Arc;

use bowline::{
    server::store::{
        AppendOutcome, ConversationKey, JournalStore, Lease, NewEntry, OpenedJournal, StoreError,
    },
    transport::BoxFuture,
};

/// Every writer has the lease, finds nothing, and may write any position.
pub(super) struct UnguardedJournals(pub(super) Arc<dyn JournalStore>);

impl JournalStore for UnguardedJournals {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        Box::pin(async move {
            self.0.open(key, from, lease).await?;
            let mut opened = OpenedJournal::new(from);
            opened.acquired = true;
            Ok(opened)
        })
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        Box::pin(async move {
            self.0.append(key, entry).await?;
            Ok(AppendOutcome::Appended)
        })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.renew(key, lease)
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.release(key, holder)
    }

    fn generation(&self) -> Option<Arc<str>> {
        self.0.generation()
    }
}

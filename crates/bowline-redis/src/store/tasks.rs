//! Tasks.
//!
//! A task is a hash. The ends of leases are in a sorted set, so claiming looks at expired
//! ones only; the ids of each account's tasks are in another, for lists.

use std::sync::Arc;

use bowline::{
    server::store::{
        ClaimedTask, ConversationKey, CreateOutcome, Lease, LeaseUpdate, NewTask, StoreError,
        StoredTask, TaskStore, TaskUpdate, UpdateOutcome,
    },
    transport::BoxFuture,
};
use redis::cmd;

use crate::{
    connection::{Connection, Reply},
    keys::Kind,
    limits::Limit,
    notices::Notices,
    script::{Script, ScriptCall, TASK_CLAIM, TASK_CREATE, TASK_LIST, TASK_RENEW, TASK_UPDATE},
};

/// How often a claim looks further if the tasks it finds have expired.
const MAX_CLAIM_ROUNDS: usize = 16;

/// A [`TaskStore`] in Redis.
pub struct RedisTaskStore {
    pub(crate) connection: Arc<Connection>,
    pub(crate) notices: Arc<Notices>,
    pub(crate) limit: Limit,
}

impl RedisTaskStore {
    fn limited_call<'a>(
        &self,
        script: &'static Script,
        key: ConversationKey<'a>,
    ) -> ScriptCall<'a> {
        let keys = self.connection.keys();
        let mut all = keys.with_quota(Kind::Task, key.id);
        all.extend([keys.task_leases(), keys.task_ids("")]);
        let call = script.call(all).limited(key.account, &self.limit);
        call.text(key.id)
    }
}

fn holder(bytes: Option<bytes::Bytes>) -> Option<String> {
    bytes.map(|holder| String::from_utf8_lossy(&holder).into_owned())
}

impl TaskStore for RedisTaskStore {
    fn create<'a>(
        &'a self,
        key: ConversationKey<'a>,
        task: NewTask<'a>,
    ) -> BoxFuture<'a, Result<CreateOutcome, StoreError>> {
        Box::pin(async move {
            let call = self
                .limited_call(&TASK_CREATE, key)
                .bytes(&task.value)
                .text(task.lease.holder)
                .lease(task.lease.duration)
                .ttl(task.ttl)
                .number(task.max_per_account as u128)
                .owned(self.connection.token());
            let reply = self.connection.run(call).await?;
            if reply.is("TOO_MANY") {
                return Ok(CreateOutcome::TooMany);
            }
            if reply.is("EXISTS") {
                return Err(StoreError::new("a task with this id exists"));
            }
            reply.ok().map(|_| CreateOutcome::Created)
        })
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<StoredTask>, StoreError>> {
        Box::pin(async move {
            let mut load = cmd("HMGET");
            load.arg(self.connection.keys().item(Kind::Task, key.id));
            load.arg(&["account", "value", "holder", "version"]);
            let mut task = Reply::try_from(self.connection.query(&load).await?)?;
            if task.optional_bytes()?.as_deref() != Some(key.account.as_bytes()) {
                return Ok(None);
            }
            let (value, holder) = (task.bytes()?, holder(task.optional_bytes()?));
            Ok(Some(StoredTask::new(value, task.number()?, holder)))
        })
    }

    fn update<'a>(
        &'a self,
        key: ConversationKey<'a>,
        update: TaskUpdate<'a>,
    ) -> BoxFuture<'a, Result<UpdateOutcome, StoreError>> {
        Box::pin(async move {
            let call = self.limited_call(&TASK_UPDATE, key).number(update.version);
            let call = call.bytes(&update.value);
            let call = match update.lease {
                LeaseUpdate::Keep => call.text("keep").text("").number(0_u64),
                LeaseUpdate::End => call.text("end").text("").number(0_u64),
                LeaseUpdate::Take(lease) => {
                    call.text("take").text(lease.holder).lease(lease.duration)
                }
            };
            let call = call.owned(self.connection.token());
            let reply = self.connection.run(call).await?;
            if reply.is("CONFLICT") {
                return Ok(UpdateOutcome::Conflict);
            }
            reply.ok().map(|_| UpdateOutcome::Updated)
        })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys();
            let task = keys.item(Kind::Task, key.id);
            let call = TASK_RENEW.call([keys.generation(), task, keys.task_leases()]);
            let call = call.text(key.id).text(key.account).text(lease.holder);
            let call = call.lease(lease.duration);
            let mut reply = self.connection.run(call).await?.ok()?;
            Ok(reply.number()? == 1)
        })
    }

    fn claim<'a>(
        &'a self,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Option<ClaimedTask>, StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys();
            for _ in 0..MAX_CLAIM_ROUNDS {
                let call = TASK_CLAIM.call([keys.generation(), keys.task_leases()]);
                let call = call.owned(keys.items(Kind::Task)).text(lease.holder);
                // Repeated, it would claim a second task, on which nobody works until
                // its lease ends.
                let call = call.lease(lease.duration).not_repeatable();
                let reply = self.connection.run(call).await?;
                if reply.is("NONE") {
                    return Ok(None);
                }
                if reply.is("AGAIN") {
                    continue;
                }
                let mut reply = reply.ok()?;
                let (id, account) = (reply.text()?, reply.text()?);
                let (value, version) = (reply.bytes()?, reply.number()?);
                let task = StoredTask::new(value, version, Some(lease.holder.to_owned()));
                return Ok(Some(ClaimedTask::new(id, account, task)));
            }
            // The next claim goes on.
            Ok(None)
        })
    }

    fn list<'a>(
        &'a self,
        account: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, StoredTask)>, StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys();
            let call = TASK_LIST.call([keys.generation(), keys.task_ids(account)]);
            let call = call.owned(keys.items(Kind::Task));
            let call = call.text(after.unwrap_or_default()).number(limit as u128);
            let mut reply = self.connection.run(call).await?.ok()?;
            let tasks = reply.list()?.into_iter().map(|task| {
                let mut task = Reply::try_from(task)?;
                let (id, value, version) = (task.text()?, task.bytes()?, task.number()?);
                let holder = holder(task.optional_bytes()?);
                Ok((id, StoredTask::new(value, version, holder)))
            });
            tasks.collect()
        })
    }

    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        let channel = self.connection.keys().item(Kind::Task, key.id);
        self.notices.wait(channel)
    }
}

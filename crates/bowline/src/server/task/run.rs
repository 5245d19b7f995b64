//! Running the rounds of tasks.

use std::{sync::Arc, time::Duration};

use bowline_schema::Budget;
use bytes::Bytes;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit},
    time::{interval, sleep},
};

use super::{
    TaskChannel,
    engine::{LoadedTask, TaskKey, Tasks},
    record::{StoredCall, TaskRecord},
    running::RunLease,
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson, RequestId},
        model::{CallToolResult, InputRequiredResult, method},
        revision::Revision,
        server::{ClientInfo, RequestContext, errors},
    },
    server::{
        conversation::{client_channel::ClientChannel, lifecycle::DetachOnDrop},
        dispatch::{
            conversation_runner::run_kept_round,
            request::{Request, RequestOrigin},
            round_outcome::{RecordedRound, StoredReply},
            tool_call::ToolRound,
            tools::into_tool_result,
        },
        replay::state::{account, binding},
        service::Core,
        store::LeaseUpdate,
    },
};

/// How often a round that failed is repeated: the store may be back.
const MAX_ATTEMPTS: u32 = 4;
/// The delay before the first repetition. It doubles each time.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(500);

/// A round of a task in progress.
pub(super) struct RunningRound {
    pub(super) round: DetachOnDrop<RecordedRound>,
    pub(super) channel: TaskChannel,
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

impl StoredCall {
    /// Returns a digest of the principal.
    pub(super) fn account(&self) -> Box<str> {
        account(self.principal.as_deref())
    }

    /// Returns a digest of the request and its principal.
    pub(super) fn binding(&self) -> Box<str> {
        let arguments = self.arguments.as_ref().map(|raw| raw.get().as_bytes());
        let principal = self.principal.as_deref();
        binding(principal, method::TOOLS_CALL, &self.tool, arguments)
    }
}

impl Core {
    /// Returns access to the tasks.
    pub(super) fn tasks(&self) -> Tasks<'_> {
        Tasks {
            engine: &self.task_engine,
            seal_keys: self.replay.seal_keys(),
            server_name: &self.replay.server_name,
        }
    }

    /// Runs a task whose lease was taken for this.
    pub(super) fn spawn_task(self: &Arc<Self>, key: TaskKey, record: TaskRecord, lease: RunLease) {
        self.spawn_run(key, record, lease, None);
    }

    /// Continues a task whose first round is in progress.
    pub(super) fn spawn_running_task(
        self: &Arc<Self>,
        key: TaskKey,
        record: TaskRecord,
        lease: RunLease,
        round: RunningRound,
    ) {
        self.spawn_run(key, record, lease, Some(round));
    }

    fn spawn_run(
        self: &Arc<Self>,
        key: TaskKey,
        record: TaskRecord,
        lease: RunLease,
        round: Option<RunningRound>,
    ) {
        let Some(stopped) = self.task_engine.begin(&key, &lease) else {
            return;
        };
        let run = TaskRun {
            core: Arc::clone(self),
            key,
            record,
            lease,
            stopped,
        };
        tokio::spawn(run.run(round));
    }

    /// Returns whether a task is for other nodes, because this one does not have what it
    /// calls: during a deployment, nodes with other tools share the store.
    pub(super) fn leaves_to_others(&self, call: &StoredCall) -> bool {
        let is_alone = self.task_engine.store().instance_id().is_some();
        let has_tool = || {
            let catalog = self.catalog();
            let tool = catalog.tools.get(&call.tool);
            tool.is_some_and(|tool| tool.shared.handler.conversation_handler().is_some())
        };
        let can_run = || has_tool() && Revision::parse(&call.revision).is_some();
        !is_alone && !can_run()
    }

    /// Starts the round that a task waits for.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not have the tool any more, or it does not
    /// accept the arguments.
    pub(super) fn start_task_round(
        self: &Arc<Self>,
        record: &TaskRecord,
        channel: TaskChannel,
    ) -> Result<DetachOnDrop<RecordedRound>, ErrorObject> {
        let call = &record.call;
        let catalog = self.catalog();
        let tool = catalog.tools.get(&call.tool);
        let tool = tool.ok_or_else(|| errors::unknown_tool(&call.tool))?;
        let handler = tool.shared.handler.conversation_handler();
        let handler = handler.ok_or_else(|| errors::unknown_tool(&call.tool))?;
        let raw = call.arguments.as_ref().map(RawJson::get);
        let bytes = Bytes::from(raw.unwrap_or("{}").to_owned());
        let text = std::str::from_utf8(&bytes).ok().filter(|_| raw.is_some());
        let checked = tool
            .shared
            .input_schema
            .check(text, &bytes, &Budget::default())?;
        let checked = checked.map_err(|error| errors::internal_error(&error.to_string()))?;
        let request = self.task_request(call)?;
        let limits = tool.shared.limits;
        let channel = ClientChannel::Task(channel);
        let mut invocation = self.invocation(request, tool.name(), channel, limits);
        invocation.arguments = raw.map(|_| bytes.clone());
        let round = ToolRound::new(Arc::clone(handler), checked, Arc::clone(&self.state));
        Ok(run_kept_round(
            Arc::clone(self),
            invocation,
            record.state.clone(),
            record.answers.clone(),
            round,
            into_tool_result,
        ))
    }

    /// Returns the request that a task runs.
    fn task_request(&self, call: &StoredCall) -> Result<Request, ErrorObject> {
        let revision = Revision::parse(&call.revision)
            .ok_or_else(|| errors::internal_error("the task has an unknown revision"))?;
        let client = ClientInfo {
            capabilities: call.capabilities.clone(),
            info: call.client.clone(),
        };
        let context = RequestContext::detached(&self.config, revision, Arc::new(client));
        let principal: Option<Arc<str>> = call.principal.as_deref().map(Into::into);
        Ok(Request {
            id: RequestId::from(0_u64),
            method: method::TOOLS_CALL.into(),
            params: None,
            context: Box::new(context),
            permissions: call.permissions.clone().into_permissions(),
            validation_budget: None,
            origin: RequestOrigin::from_principal(principal.as_ref()),
            principal,
        })
    }
}

/// A task that runs in this process.
struct TaskRun {
    core: Arc<Core>,
    key: TaskKey,
    record: TaskRecord,
    lease: RunLease,
    /// Notified if it is to stop.
    stopped: Arc<Notify>,
}

/// Notes that a run of a task is over, however it ended.
struct EndOnDrop(Arc<Core>, Box<str>, RunLease);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.task_engine.end(&self.1, &self.2);
    }
}

impl TaskRun {
    /// Runs the task until it ends, waits for answers, or belongs to another run.
    async fn run(self, first: Option<RunningRound>) {
        let (core, id) = (Arc::clone(&self.core), self.key.id.clone());
        let _end = EndOnDrop(core, id, self.lease.clone());
        let channel = match &first {
            Some(running) => running.channel.clone(),
            None => TaskChannel::default(),
        };
        // Also while the task waits for its turn: it belongs to this node.
        let recorded = tokio::select! {
            biased;
            recorded = self.run_rounds(first, &channel) => recorded,
            // What it does is dropped, except for steps.
            () = self.stopped.notified() => return,
            () = self.keep_lease(&channel) => return,
        };
        match recorded {
            Some(recorded) => self.store_end(recorded).await,
            None => {
                let engine = &self.core.task_engine;
                engine.end_lease(&self.key, &self.lease).await;
            }
        }
    }

    /// Runs the round that the task waits for, once it is its turn. A round that failed
    /// is repeated. Returns `None` if the task is for other nodes.
    async fn run_rounds(
        &self,
        first: Option<RunningRound>,
        channel: &TaskChannel,
    ) -> Option<RecordedRound> {
        let (mut next, _permit) = match first {
            Some(running) => (Some(running.round), running.permit),
            None => (None, self.core.task_engine.permit().await),
        };
        let mut delay = FIRST_RETRY_DELAY;
        let mut attempts = 1;
        loop {
            let recorded = match next.take() {
                Some(round) => round.await,
                None if self.core.leaves_to_others(&self.record.call) => return None,
                None => match self.core.start_task_round(&self.record, channel.clone()) {
                    Ok(round) => round.await,
                    Err(error) => RecordedRound::Ended(StoredReply::Error(error)),
                },
            };
            match recorded {
                RecordedRound::Retryable(_) if attempts < MAX_ATTEMPTS => sleep(delay).await,
                recorded => return Some(recorded),
            }
            delay *= 2;
            attempts += 1;
        }
    }

    /// Renews the lease, and stores what the task reports, until the lease is lost.
    async fn keep_lease(&self, channel: &TaskChannel) {
        let engine = &self.core.task_engine;
        let mut ticks = interval(engine.lease_timeout / 3);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let lease = engine.lease(&self.lease.holder);
            let renewed = engine.store().renew(self.key.as_store_key(), lease).await;
            // After an error, the lease may still be ours.
            if matches!(renewed, Ok(false)) {
                return;
            }
            if let Some(status) = channel.take_status() {
                let now = engine.now();
                let _ = self
                    .change(|task| {
                        let is_new = task.record.task.status_message() != Some(&*status);
                        let is_going_on =
                            is_new && task.record.task.set_status_message(now, status.clone());
                        is_going_on.then_some(LeaseUpdate::Keep)
                    })
                    .await;
            }
        }
    }

    /// Stores how a round ended. If the store fails, the lease expires, and the next
    /// node finds the end in the journal.
    async fn store_end(&self, recorded: RecordedRound) {
        let mut delay = FIRST_RETRY_DELAY;
        for _ in 0..MAX_ATTEMPTS {
            let now = self.core.task_engine.now();
            let changed = self
                .change(|task| {
                    apply(&recorded, task, now);
                    Some(LeaseUpdate::End)
                })
                .await;
            match changed {
                Ok(()) => return,
                Err(_) => sleep(delay).await,
            }
            delay *= 2;
        }
    }

    /// Changes the task if its lease is still that of this run.
    async fn change<'l>(
        &self,
        mut change: impl FnMut(&mut LoadedTask) -> Option<LeaseUpdate<'l>>,
    ) -> Result<(), ErrorObject> {
        let tasks = self.core.tasks();
        let changed = tasks.change(&self.key, |task| match task.is_held_by(&self.lease) {
            true => change(task),
            false => None,
        });
        let changed = changed.await?;
        if changed.is_changed {
            self.core.notify_task_changed(&changed.record);
        }
        Ok(())
    }
}

/// Applies the end of a round to its task.
fn apply(recorded: &RecordedRound, task: &mut LoadedTask, now: crate::proto::task::Timestamp) {
    let record = &mut task.record;
    match recorded {
        RecordedRound::Ended(StoredReply::Result(result)) => {
            let is_error = is_tool_error(result);
            record.task.complete(now, result.clone(), is_error);
        }
        RecordedRound::Ended(StoredReply::Error(error)) | RecordedRound::Retryable(error) => {
            record.task.fail(now, error.clone());
        }
        RecordedRound::Suspended(question) => {
            let InputRequiredResult {
                input_requests,
                request_state,
                ..
            } = question.clone();
            if record.task.ask(now, input_requests.unwrap_or_default()) {
                record.state = request_state.unwrap_or_default();
                record.answers = Default::default();
            }
        }
    }
}

/// Returns whether this is the result of a tool that failed.
fn is_tool_error(result: &RawJson) -> bool {
    let result: Result<CallToolResult, _> = result.decode();
    result.is_ok_and(|result| result.is_error == Some(true))
}

//! Requests about tasks, in both dialects.

use std::{collections::BTreeSet, sync::Arc};

use tokio::time::{Duration, sleep};

use super::{engine::TaskKey, record::TaskRecord, result_waiters::ResultWaiter, running::RunLease};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, code},
        model::{
            CancelCoreTaskResult, EmptyResult, GetCoreTaskResult, GetTaskParams, InputKind,
            InputRequest, InputRequests, InputResponses, ListCoreTasksParams, ListCoreTasksResult,
            Meta, RelatedTask, UpdateTaskParams, method,
        },
        server::{Outcome, errors},
        task::{AnswerOutcome, Dialect},
    },
    server::{
        auth::permissions::Permissions,
        changes::Change,
        conversation::client_channel::ClientChannel,
        dispatch::{
            request::{Dispatched, OpenChannel, Request, pending},
            router::Feature,
        },
        replay::state::{account, is_valid_answer},
        service::Core,
        store::{Lease, LeaseUpdate},
    },
};

/// How often a waiting request looks at its task if the store does not notify.
const WAIT_INTERVAL: Duration = Duration::from_millis(500);

/// The methods of a server with tasks.
pub(crate) static TASKS: Feature = Feature {
    methods: &[
        (method::TASKS_GET, Core::handle_get_task),
        (method::TASKS_UPDATE, Core::handle_update_task),
        (method::TASKS_CANCEL, Core::handle_cancel_task),
        (method::TASKS_RESULT, Core::handle_task_result),
        (method::TASKS_LIST, Core::handle_list_tasks),
    ],
    start: Some(Core::start_takeovers),
    shut_down: Some(|core, deadline| Box::pin(core.task_engine.shut_down(deadline))),
    register: |_, _| Ok(()),
};

fn dialect(request: &Request) -> Option<Dialect> {
    Dialect::of(&request.context.rules.features)
}

/// Returns the address of the task that a request is about. A task of someone else
/// is not found there.
fn task_key(request: &Request) -> Result<TaskKey, ErrorObject> {
    // All these methods have the same params, and some have more.
    let params: GetTaskParams = request.parse_params()?;
    Ok(TaskKey {
        id: params.task_id.into(),
        account: account(request.principal.as_deref()),
    })
}

impl Core {
    fn handle_get_task(self: Arc<Self>, request: Request, _: OpenChannel<'_>) -> Dispatched {
        self.start_takeovers();
        pending(async move {
            let task = self.tasks().load(&task_key(&request)?).await?.record.task;
            Ok(match dialect(&request) {
                Some(Dialect::Core) => {
                    request.encode_reply(GetCoreTaskResult::from(task.to_core_task()))
                }
                _ => request.encode_reply(task.to_get_result()),
            })
        })
    }

    fn handle_update_task(self: Arc<Self>, request: Request, _: OpenChannel<'_>) -> Dispatched {
        pending(async move {
            let key = task_key(&request)?;
            let params: UpdateTaskParams = request.parse_params()?;
            self.answer_task(&key, &params.input_responses).await?;
            Ok(request.encode_reply(EmptyResult::default()))
        })
    }

    fn handle_cancel_task(self: Arc<Self>, request: Request, _: OpenChannel<'_>) -> Dispatched {
        pending(async move {
            let key = task_key(&request)?;
            let (record, is_changed) = self.cancel_task(&key).await?;
            match dialect(&request) {
                Some(Dialect::Core) if !is_changed => {
                    let status = record.task.core_status();
                    let message = format!("The task has ended already: it is {status}");
                    Err(ErrorObject::new(code::INVALID_PARAMS, message))
                }
                Some(Dialect::Core) => {
                    let task = record.task.to_core_task();
                    Ok(request.encode_reply(CancelCoreTaskResult::from(task)))
                }
                _ => Ok(request.encode_reply(EmptyResult::default())),
            }
        })
    }

    /// Waits until the task has ended. Meanwhile, its questions are asked on this
    /// request, until a newer one waits too.
    fn handle_task_result(
        self: Arc<Self>,
        request: Request,
        open_channel: OpenChannel<'_>,
    ) -> Dispatched {
        let channel = open_channel(&request);
        pending(async move {
            let key = task_key(&request)?;
            let waiter = self.task_engine.begin_waiting(&key);
            loop {
                // Before the task is loaded, so no change is missed.
                let changed = self.task_engine.store().wait_for_change(key.as_store_key());
                let task = self.tasks().load(&key).await?.record.task;
                if let Some(payload) = task.to_core_payload() {
                    return payload.map(|payload| request.encode_reply(payload));
                }
                match task.open_questions().filter(|_| waiter.is_newest()) {
                    Some(questions) => {
                        self.ask_for_task(&key, questions, &channel, &waiter)
                            .await?;
                    }
                    None => {
                        tokio::select! {
                            () = changed => {}
                            () = waiter.newest_changed() => {}
                            () = sleep(WAIT_INTERVAL) => {}
                        }
                    }
                }
            }
        })
    }

    fn handle_list_tasks(self: Arc<Self>, request: Request, _: OpenChannel<'_>) -> Dispatched {
        pending(async move {
            if request.principal.is_none() && !matches!(request.permissions, Permissions::AllScopes)
            {
                // Anyone could read the ids of everyone.
                let message = "tasks/list needs an authenticated caller";
                return Err(ErrorObject::new(code::METHOD_NOT_FOUND, message));
            }
            let params: ListCoreTasksParams = request.parse_params()?;
            let cursor = params.cursor.as_deref();
            let is_id = |id: &str| id.len() == 32 && id.bytes().all(|it| it.is_ascii_hexdigit());
            if cursor.is_some_and(|cursor| !is_id(cursor)) {
                return Err(errors::unknown_cursor());
            }
            let account = account(request.principal.as_deref());
            let limit = self.page_size.saturating_add(1);
            let mut records = self.tasks().list(&account, cursor, limit).await?;
            let has_more = records.len() > self.page_size;
            records.truncate(self.page_size);
            let last = records.last().map(|record| record.task.id().to_owned());
            let tasks: Vec<_> = records.iter().map(|it| it.task.to_core_task()).collect();
            let mut page = ListCoreTasksResult::new(tasks);
            page.next_cursor = last.filter(|_| has_more);
            Ok(request.encode_reply(page))
        })
    }
}

impl Core {
    /// Gives answers to a task. Once it has all, it goes on, here if this node has its tool.
    async fn answer_task(
        self: &Arc<Self>,
        key: &TaskKey,
        answers: &InputResponses,
    ) -> Result<(), ErrorObject> {
        let (tasks, engine) = (self.tasks(), &self.task_engine);
        let mut invalid = None;
        let holder = RunLease::new_holder();
        let changed = tasks
            .change(key, |loaded| {
                invalid = invalid_answer(loaded.record.task.open_questions(), answers);
                if invalid.is_some() {
                    return None;
                }
                let (record, now) = (&mut loaded.record, engine.now());
                match record.task.answer(now, answers) {
                    AnswerOutcome::Ignored => None,
                    AnswerOutcome::Partial => Some(LeaseUpdate::Keep),
                    AnswerOutcome::Complete => {
                        record.answers = record.task.resume(now).unwrap_or_default();
                        Some(LeaseUpdate::Take(
                            match self.leaves_to_others(&record.call) {
                                // It has ended already, so a node with the tool takes over.
                                true => Lease::new(&holder, Duration::ZERO),
                                false => engine.lease(&holder),
                            },
                        ))
                    }
                }
            })
            .await?;
        if let Some(error) = invalid {
            return Err(error);
        }
        if changed.is_changed {
            let (record, version) = (changed.record, changed.version);
            self.notify_task_changed(&record);
            let is_complete = record.task.open_questions().is_none();
            if is_complete && !self.leaves_to_others(&record.call) {
                self.spawn_task(key.clone(), record, RunLease { holder, version });
            }
        }
        Ok(())
    }

    /// Cancels a task, unless it has ended. Returns it, and whether it was cancelled.
    pub(super) async fn cancel_task(
        &self,
        key: &TaskKey,
    ) -> Result<(TaskRecord, bool), ErrorObject> {
        let now = self.task_engine.now();
        let changed = self
            .tasks()
            .change(key, |loaded| {
                let is_cancelled = loaded.record.task.cancel(now);
                is_cancelled.then_some(LeaseUpdate::End)
            })
            .await?;
        if changed.is_changed {
            self.task_engine.stop(&key.id);
            self.notify_task_changed(&changed.record);
        }
        Ok((changed.record, changed.is_changed))
    }

    /// Asks the client the questions of a task, and gives it the answers. A question is
    /// withdrawn if a newer request asks it.
    async fn ask_for_task(
        self: &Arc<Self>,
        key: &TaskKey,
        questions: &InputRequests,
        channel: &ClientChannel,
        waiter: &ResultWaiter<'_>,
    ) -> Result<(), ErrorObject> {
        for (name, question) in questions.iter() {
            let mut question = question.clone();
            mark_related(&mut question, &key.id);
            let outcome = tokio::select! {
                biased;
                outcome = channel.ask(question, None) => outcome,
                () = waiter.newest_changed() => return Ok(()),
            };
            let answer = match outcome {
                Outcome::Result(answer) => answer,
                Outcome::Error(error) => return self.refuse_question(key, name, error).await,
                Outcome::Failed(failure) => {
                    return Err(errors::internal_error(&failure.to_string()));
                }
            };
            let mut answers = InputResponses::new();
            answers.insert(name.to_owned(), super::start::raw_json(&answer)?);
            self.answer_task(key, &answers).await?;
        }
        Ok(())
    }

    /// Ends a task whose question the client refused, unless it was answered meanwhile:
    /// several nodes may have asked it.
    async fn refuse_question(
        &self,
        key: &TaskKey,
        name: &str,
        error: ErrorObject,
    ) -> Result<(), ErrorObject> {
        let now = self.task_engine.now();
        let changed = self
            .tasks()
            .change(key, |loaded| {
                let task = &mut loaded.record.task;
                // The name of a question is never used again.
                let mut questions = task.open_questions().into_iter();
                let is_open = questions.any(|it| it.get(name).is_some());
                let has_failed = is_open && task.fail(now, error.clone());
                has_failed.then_some(LeaseUpdate::End)
            })
            .await?;
        if changed.is_changed {
            self.notify_task_changed(&changed.record);
        }
        Ok(())
    }

    /// Notifies clients that wait for changes of a task, also those of other nodes.
    pub(super) fn notify_task_changed(&self, record: &TaskRecord) {
        self.relay_change(|| {
            let account = record.call.account();
            Change::Task(record.task.id().into(), account)
        });
        self.notify_clients_of_record(record);
    }

    /// Notifies the clients of this node that wait for changes of a task.
    pub(crate) async fn notify_clients_of_task(&self, id: Box<str>, account: Box<str>) {
        let mut is_subscribed = false;
        self.connections.for_each(|connection| {
            is_subscribed |= connection.inspect(|machine| machine.is_subscribed_to_task(&id));
        });
        if !is_subscribed {
            return;
        }
        // If it fails, the client asks at its poll interval.
        if let Ok(loaded) = self.tasks().load(&TaskKey { id, account }).await {
            self.notify_clients_of_record(&loaded.record);
        }
    }

    /// Notifies the clients of this node of all tasks that they wait for.
    pub(crate) async fn notify_clients_of_all_tasks(&self) {
        let mut tasks = BTreeSet::new();
        self.connections.for_each(|connection| {
            let account = account(connection.principal());
            connection.inspect(|machine| {
                let ids = machine.subscribed_tasks().into_iter();
                tasks.extend(ids.map(|id| (Box::from(id), account.clone())));
            });
        });
        for (id, account) in tasks {
            self.notify_clients_of_task(id, account).await;
        }
    }

    fn notify_clients_of_record(&self, record: &TaskRecord) {
        let principal = record.call.principal.as_deref();
        let params = record.task.to_changed_params();
        self.connections.for_each(|connection| {
            if connection.principal() == principal {
                connection.task_changed(&params);
            }
        });
    }
}

/// Returns the error for an answer that does not fit its question.
fn invalid_answer(
    questions: Option<&InputRequests>,
    answers: &InputResponses,
) -> Option<ErrorObject> {
    let questions = questions?;
    answers.iter().find_map(|(key, answer)| {
        let question = questions.get(key)?;
        (!is_valid_answer(question, answer)).then(|| {
            let method = question.method();
            let message =
                format!("Invalid params: inputResponses[{key:?}] is not a result of {method}");
            ErrorObject::new(code::INVALID_PARAMS, message)
        })
    })
}

/// Marks a question as one of a task.
fn mark_related(question: &mut InputRequest, id: &str) {
    let meta: &mut Option<Meta> = match &mut question.kind {
        InputKind::Elicit(params) => &mut params.meta,
        InputKind::CreateMessage(params) => &mut params.meta,
        InputKind::ListRoots(params) => &mut params.get_or_insert_default().meta,
        _ => return,
    };
    meta.get_or_insert_default()
        .set_related_task(&RelatedTask::new(id));
}

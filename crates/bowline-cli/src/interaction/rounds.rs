//! Running one call from its first round until it ends or is suspended.

use std::{cmp::Ordering, pin::pin, time::Duration};

use bowline::{
    Client, Error,
    client::{Notification, SuspendedCall, ToolCall, ToolCallOutcome, progress_channel},
    model::{InputRequests, InputResponses, LogLevel, LoggingMessageParams},
};
use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::{
    CallOutcome, TaskChoice,
    args::LogFilter,
    one_line,
    progress::Progress,
    required_urls,
    responder::{Responder, Unanswered},
    suspended::{CallStore, StoredCall, StoredWork},
};
use crate::{
    context::Context,
    failure::Failure,
    output::{Style, escape_control},
};

/// Maximum number of rounds of one call.
pub(super) const MAX_ROUNDS: u32 = 32;
/// Default time limit of a call that keeps reporting progress.
const MAX_CALL_TIME: Duration = Duration::from_secs(60 * 60);
pub(super) const TICK: Duration = Duration::from_millis(250);

/// A call that goes on in rounds as long as the server has questions.
pub(crate) struct Rounds<'a> {
    pub(super) cx: &'a Context,
    pub(super) client: &'a Client,
    pub(super) tool: &'a str,
    pub(super) task: TaskChoice,
    /// The stored call, if it was suspended.
    pub(super) stored: Option<StoredCall>,
}

/// The result of a round.
enum RoundResult {
    Outcome(ToolCallOutcome),
    Suspended(String),
}

impl<'a> Rounds<'a> {
    pub(crate) fn new(cx: &'a Context, client: &'a Client, tool: &'a str) -> Self {
        Self {
            cx,
            client,
            tool,
            task: TaskChoice::Wait,
            stored: None,
        }
    }

    /// Makes the call.
    pub(crate) async fn start(
        mut self,
        arguments: Value,
        task: TaskChoice,
    ) -> Result<CallOutcome, Failure> {
        self.task = task;
        loop {
            let mut call = self.client.tools().call(self.tool, &arguments);
            if task == TaskChoice::Detach {
                call = call.request_task();
            }
            match self.send_with_progress(call).await {
                Ok(outcome) => return self.run(RoundResult::Outcome(outcome)).await,
                Err(error) => required_urls::open_required_urls(&self.cx.responder, error).await?,
            }
        }
    }

    /// Resumes a suspended call.
    pub(crate) async fn resume(mut self, stored: StoredCall) -> Result<CallOutcome, Failure> {
        let (work, answers) = (stored.work(), stored.answers.clone());
        self.stored = Some(stored);
        let responder = &self.cx.responder;
        responder.set_suspended_done(false);
        let continuation = match work {
            Some(StoredWork::Call(continuation)) => continuation,
            None => return Err(Failure::usage("the stored call is incomplete")),
            Some(StoredWork::Task(task)) => {
                let task = self.client.tasks().resume(task.saved);
                return self.follow_task(task, answers).await;
            }
        };
        let next = self.round(continuation, answers, 0).await?;
        responder.set_suspended_done(true);
        self.run(next).await
    }

    async fn run(&mut self, mut next: RoundResult) -> Result<CallOutcome, Failure> {
        for round in 1..=MAX_ROUNDS {
            match next {
                RoundResult::Suspended(id) => return Ok(CallOutcome::Suspended(id)),
                RoundResult::Outcome(ToolCallOutcome::Done(result)) => {
                    self.remove_stored()?;
                    return Ok(CallOutcome::Done(result));
                }
                RoundResult::Outcome(ToolCallOutcome::InputRequired(continuation)) => {
                    let answers = InputResponses::default();
                    next = self.round(continuation, answers, round).await?;
                }
                RoundResult::Outcome(ToolCallOutcome::Task(task)) => {
                    return self.task_created(task).await;
                }
                RoundResult::Outcome(_) => break,
            }
        }
        Err(self.keeps_asking())
    }

    pub(super) fn keeps_asking(&self) -> Failure {
        let name = self.cx.responder.name();
        Failure::failed(format!(
            "{name} keeps asking: the limit of {MAX_ROUNDS} rounds is exceeded"
        ))
    }

    /// Answers the questions and sends the answers, or suspends the call.
    async fn round(
        &mut self,
        continuation: SuspendedCall,
        mut answers: InputResponses,
        round: u32,
    ) -> Result<RoundResult, Failure> {
        if continuation.questions().is_empty() {
            // No questions: the server needs time.
            sleep(Duration::from_millis(100 << round.min(5))).await;
        }
        let open_questions = self.answer(continuation.questions(), &mut answers).await?;
        if !open_questions.is_empty() || self.stored.is_some() {
            // Stored before sending: a lost answer can be sent again.
            self.store(StoredWork::Call(continuation.clone()), &answers)?;
        }
        if !open_questions.is_empty() {
            return Ok(RoundResult::Suspended(self.suspended(&open_questions)));
        }
        let call = self.client.tools().resume(continuation, &answers);
        match self.send_with_progress(call).await {
            Ok(outcome) => Ok(RoundResult::Outcome(outcome)),
            Err(error) => Err(self.round_failure(error)),
        }
    }

    /// Answers the open questions, and returns those that could not be
    /// answered.
    pub(super) async fn answer(
        &self,
        questions: &InputRequests,
        answers: &mut InputResponses,
    ) -> Result<Vec<Unanswered>, Failure> {
        let responder = &self.cx.responder;
        let mut open_questions = Vec::new();
        for (key, question) in questions.iter() {
            if answers.contains_key(key) && !responder.has_answer(key, question) {
                continue;
            }
            match responder.answer(key, question).await? {
                Ok(answer) => drop(answers.insert(key.to_owned(), answer)),
                Err(unanswered) => {
                    answers.remove(key);
                    open_questions.push(unanswered);
                }
            }
        }
        Ok(open_questions)
    }

    /// Returns the name of the call that is suspended with these questions.
    pub(super) fn suspended(&self, open_questions: &[Unanswered]) -> String {
        for unanswered in open_questions {
            // All of them are reported at the end.
            let _ = self.cx.responder.record_failure(unanswered);
        }
        let id = self.stored.as_ref().map(|stored| stored.id.clone());
        id.unwrap_or_default()
    }

    pub(super) fn store(
        &mut self,
        work: StoredWork,
        answers: &InputResponses,
    ) -> Result<(), Failure> {
        let call_store = CallStore::open()?;
        let stored = match self.stored.take() {
            Some(mut stored) => {
                stored.set_work(work);
                stored.answers = answers.clone();
                stored
            }
            None => {
                let revision = self.client.server_info().map(|server| server.revision);
                let answers = answers.clone();
                StoredCall::new(
                    self.cx,
                    call_store.new_id(),
                    revision,
                    self.tool,
                    work,
                    answers,
                )?
            }
        };
        call_store.save(self.stored.insert(stored))
    }

    /// Removes the stored call after it has ended.
    pub(super) fn remove_stored(&mut self) -> Result<(), Failure> {
        match self.stored.take() {
            Some(stored) => CallStore::open()?.remove(&stored.id),
            None => Ok(()),
        }
    }

    /// Handles the error of a round. A refusal ends the call; after any other
    /// error it stays suspended.
    fn round_failure(&mut self, error: Error) -> Failure {
        let is_refused = error.server_error().is_some();
        let failure = Failure::from(error);
        match &self.stored {
            Some(_) if is_refused => {
                // An error of the store matters less.
                let _ = self.remove_stored();
                failure.hint("the server refused to resume this call: make a new one")
            }
            Some(stored) => failure.hint(format!(
                "the call is still suspended, with its answers: `bowline resume {}` sends them \
                 again",
                stored.id
            )),
            None => failure,
        }
    }
}

impl Rounds<'_> {
    /// Sends a round, showing progress and log messages.
    async fn send_with_progress(&self, call: ToolCall<'_>) -> Result<ToolCallOutcome, Error> {
        let responder = &self.cx.responder;
        let (sender, mut progress_updates) = progress_channel();
        let mut call = call.progress_to(sender);
        call = match self.cx.time_left() {
            Some(remaining) => call.timeout(remaining),
            None => call.extend_timeout_on_progress(MAX_CALL_TIME),
        };
        let mut notifications = self.client.notifications();
        let mut progress = Progress::new(&responder.screen, self.tool, responder.plain_progress());
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut setting_level = pin!(self.set_level());
        let mut level_set = false;
        let mut call_future = pin!(call.suspend_on_input());
        loop {
            // In this order: the level before the call, and notifications
            // before the result.
            tokio::select! {
                biased;
                () = &mut setting_level, if !level_set => level_set = true,
                Some(update) = progress_updates.recv() => progress.update(update),
                Some(notification) = notifications.next() => print_notification(responder, notification),
                outcome = &mut call_future => return outcome,
                _ = ticks.tick(), if responder.screen.is_live() => progress.tick(),
            }
        }
    }

    /// Sets the log level, if one is wanted. A refusal is ignored.
    async fn set_level(&self) {
        let server = self.client.server_info();
        let has_logging = server.is_some_and(|server| server.has_capability("logging"));
        if let (true, Some(level)) = (has_logging, self.cx.responder.requested_log_level()) {
            let _ = self.client.set_log_level(level).await;
        }
    }
}

/// Prints a notification.
fn print_notification(responder: &Responder, notification: Notification) {
    match notification {
        Notification::Log(message) if responder.includes_level(&message.level) => {
            responder.screen.line(log_line(responder, &message));
        }
        _ => {}
    }
}

fn log_line(responder: &Responder, message: &LoggingMessageParams) -> String {
    let paint = responder.screen.paint();
    let style = match message.level {
        LogLevel::Debug | LogLevel::Info | LogLevel::Notice => Style::Dim,
        LogLevel::Warning => Style::Warning,
        _ => Style::Error,
    };
    let level = paint.text(style, format!("[{}]", one_line(message.level.as_str())));
    let logger = message
        .logger
        .as_deref()
        .map(|name| format!(" {}:", one_line(name)));
    let text = message.data.decode::<String>();
    let text = text.unwrap_or_else(|_| message.data.get().to_owned());
    format!(
        "{level}{} {}",
        logger.unwrap_or_default(),
        escape_control(&text)
    )
}

impl Responder {
    /// Returns the level to request; `None` leaves it to the server.
    fn requested_log_level(&self) -> Option<LogLevel> {
        match self.log_filter() {
            LogFilter::AtLeast(level) => Some(level),
            LogFilter::Off | LogFilter::Default => None,
        }
    }

    fn includes_level(&self, level: &LogLevel) -> bool {
        let min_level = match self.log_filter() {
            LogFilter::Off => return false,
            LogFilter::AtLeast(min_level) => min_level,
            LogFilter::Default => LogLevel::Warning,
        };
        // An unknown level may be severe.
        level.partial_cmp(&min_level) != Some(Ordering::Less)
    }
}

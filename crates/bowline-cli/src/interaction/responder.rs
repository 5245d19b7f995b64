//! Answering questions: with preset answers, by the user at the terminal, or
//! not at all.

use std::sync::{
    Mutex, MutexGuard, OnceLock,
    atomic::{AtomicU32, Ordering},
};

use bowline::{
    Client, RawJson,
    client::check_answer,
    model::{
        CreateMessageParams, ElicitAction, ElicitParams, ElicitResult, ElicitSchema, InputKind,
        InputRequest, ListRootsResult, LogLevel, Members, Root,
    },
};
use serde_json::Value;
use tokio::sync::Mutex as AsyncMutex;

use super::{
    args::{InteractionArgs, LogFilter},
    field, form, one_line,
    page::{self, Page},
    preset::{FilledForm, PresetAnswers},
    sampling::{self, SamplingResult},
    screen::Screen,
    settings::{self, ModelCommand},
    terminal::Terminal,
};
use crate::{
    args::Globals,
    failure::{Failure, FailureKind},
    locks,
    output::{Output, escape_control},
    target::{CommandClock, Target},
};

/// Answers questions from servers, one at a time.
pub(crate) struct Responder {
    args: InteractionArgs,
    color: crate::args::Color,
    preset: PresetAnswers,
    /// Why preset answers could not be sent.
    failures: Mutex<Vec<Failure>>,
    pub(crate) screen: Screen,
    terminal: OnceLock<Option<Terminal>>,
    command: OnceLock<Option<ModelCommand>>,
    /// How often the sampling command ran without asking the user.
    sampling_count: AtomicU32,
    asking_server: Mutex<AskingServer>,
    question_lock: AsyncMutex<()>,
    clock: CommandClock,
}

/// The server that asks.
#[derive(Clone, Default)]
pub(crate) struct AskingServer {
    /// The server, as selected on the command line.
    pub(crate) target: Option<Target>,
    /// Its display name.
    name: String,
}

/// An unanswered question, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct Unanswered {
    pub(crate) reason: String,
    /// The kind of failure, if something went wrong; a missing answer alone is
    /// not a failure.
    failure_kind: Option<FailureKind>,
}

impl Unanswered {
    fn new(why: impl Into<String>) -> Self {
        let reason = why.into();
        let failure_kind = None;
        Self {
            reason,
            failure_kind,
        }
    }

    fn failure(kind: FailureKind, why: impl Into<String>) -> Self {
        let failure_kind = Some(kind);
        Self {
            failure_kind,
            ..Self::new(why)
        }
    }
}

impl Responder {
    pub(crate) fn new(globals: &Globals, output: &Output) -> Self {
        Self {
            args: globals.interaction.clone(),
            color: globals.color,
            preset: PresetAnswers::new(
                &globals.interaction.preset_answers,
                &globals.interaction.suspended_answers,
            ),
            failures: Mutex::default(),
            screen: Screen::new(output.note_paint()),
            terminal: OnceLock::new(),
            command: OnceLock::new(),
            sampling_count: AtomicU32::new(0),
            asking_server: Mutex::default(),
            question_lock: AsyncMutex::default(),
            clock: globals.clock.clone(),
        }
    }

    /// Sets the server that may ask.
    pub(crate) fn set_target(&self, target: &Target) {
        *self.asking_server() = AskingServer {
            target: Some(target.clone()),
            name: one_line(target.name()),
        };
    }

    /// Uses the server's own name, if it was selected by the command that
    /// starts it.
    pub(crate) fn set_name(&self, client: &Client) {
        let server = client.server_info();
        let info = server.as_ref().and_then(|server| server.info.as_ref());
        let mut asking_server = self.asking_server();
        if let (Some(Target::Command(_)), Some(info)) = (&asking_server.target, info) {
            asking_server.name = one_line(&info.name);
        }
    }

    /// Returns the server that asks.
    pub(crate) fn target(&self) -> Option<Target> {
        self.asking_server().target.clone()
    }

    pub(crate) fn name(&self) -> String {
        self.asking_server().name.clone()
    }

    fn asking_server(&self) -> MutexGuard<'_, AskingServer> {
        locks::lock(&self.asking_server)
    }

    /// Returns the folders in which servers may work.
    pub(crate) fn roots(&self) -> Vec<Root> {
        let root = |path: &std::path::PathBuf| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let url = url::Url::from_file_path(path).ok()?;
            Some(Root::new(url))
        };
        self.args.root.iter().filter_map(root).collect()
    }

    /// Returns whether progress is printed without a terminal.
    pub(crate) fn plain_progress(&self) -> bool {
        self.args.progress
    }

    /// Returns which log messages are shown.
    pub(crate) fn log_filter(&self) -> LogFilter {
        match &self.args.log {
            Some(logs) => logs.clone(),
            None if self.screen.is_live() => LogFilter::AtLeast(LogLevel::Info),
            None => LogFilter::Default,
        }
    }

    /// Returns the command that answers for a model, if there is one.
    pub(crate) fn model_command(&self) -> Option<&ModelCommand> {
        let find = || {
            settings::model_command(self.args.sampling_command.as_deref()).unwrap_or_else(|why| {
                self.screen
                    .line(format!("{why}; sampling is not available"));
                None
            })
        };
        self.command.get_or_init(find).as_ref()
    }

    /// Returns the user's terminal, if they may be asked.
    pub(crate) fn terminal(&self) -> Option<&Terminal> {
        let open = || Terminal::open(|is_terminal| self.color.is_enabled(is_terminal));
        let is_disabled = self.args.no_input || self.args.decline;
        let terminal = self
            .terminal
            .get_or_init(|| if is_disabled { None } else { open() });
        terminal.as_ref()
    }

    /// Returns whether a preset answer exists for a question.
    pub(crate) fn has_answer(&self, key: &str, question: &InputRequest) -> bool {
        let InputKind::Elicit(params) = &question.kind else {
            return false;
        };
        let form = params.requested_schema.as_ref();
        form.is_some_and(|form| self.preset.fill(Some(key), form) != FilledForm::default())
    }

    /// Sets whether the questions of the suspended call are answered.
    pub(crate) fn set_suspended_done(&self, is_over: bool) {
        self.preset.set_suspended_done(is_over);
    }

    /// Records a failed answer. Returns whether it is new: a server may ask
    /// repeatedly.
    pub(crate) fn record_failure(&self, unanswered: &Unanswered) -> bool {
        let Some(kind) = unanswered.failure_kind else {
            return true;
        };
        let mut failures = self.lock_failures();
        let is_new = failures
            .iter()
            .all(|known| known.message != unanswered.reason);
        if is_new {
            failures.push(Failure::new(kind, &unanswered.reason));
        }
        is_new
    }

    /// Returns the preset answers that were not used, as a failure: invalid,
    /// failed, or never asked for. Extra answers in files are only a note.
    pub(crate) fn take_failure(&self) -> Option<Failure> {
        for unused in self.preset.unused(false) {
            self.screen.line(escape_control(&unused));
        }
        let mut all = std::mem::take(&mut *self.lock_failures());
        all.extend(self.preset.unused(true).into_iter().map(Failure::usage));
        let kind = all.first()?.kind;
        let messages: Vec<_> = all.into_iter().map(|failure| failure.message).collect();
        // Aligned after `error:`.
        Some(Failure::new(kind, messages.join("\n       ")))
    }

    fn lock_failures(&self) -> MutexGuard<'_, Vec<Failure>> {
        locks::lock(&self.failures)
    }
}

impl Responder {
    /// Answers a question of a call in the stateless era.
    pub(crate) async fn answer(
        &self,
        key: &str,
        question: &InputRequest,
    ) -> Result<Result<RawJson, Unanswered>, Failure> {
        let answer = match &question.kind {
            InputKind::Elicit(params) => match self.elicit(Some(key), params).await {
                Ok(answer) => RawJson::encode(&answer),
                Err(unanswered) => return Ok(Err(unanswered)),
            },
            InputKind::CreateMessage(params) => match self.sample(params).await {
                Ok(Ok(answer)) => RawJson::encode(&answer),
                // The result cannot express a refusal: it ends the call.
                Ok(Err(error)) => return Err(Failure::failed(error.message.to_string())),
                Err(unanswered) => return Ok(Err(unanswered)),
            },
            InputKind::ListRoots(_) => RawJson::encode(&ListRootsResult::new(self.roots())),
            _ => {
                let method = one_line(question.method());
                let message = format!("{} sent an unknown request `{method}`", self.name());
                return Err(Failure::failed(message));
            }
        };
        answer
            .map(Ok)
            .map_err(|error| Failure::failed(error.to_string()))
    }

    /// Returns the user's answer to a form or a page.
    pub(crate) async fn elicit(
        &self,
        key: Option<&str>,
        params: &ElicitParams,
    ) -> Result<ElicitResult, Unanswered> {
        let _question = self.question_lock.lock().await;
        let _clock_pause = self.clock.pause();
        if params.is_url() {
            return self.open_url(params).await;
        }
        let empty = ElicitSchema::new(Members::new());
        let form = params.requested_schema.as_ref().unwrap_or(&empty);
        let mut filled = self.preset.fill(key, form);
        let is_given = filled != FilledForm::default();
        if self.args.accept {
            fill_defaults(form, &mut filled);
        }
        let has_content = !filled.content.is_empty() || self.args.accept;
        if filled.invalid.is_empty() && has_content {
            let content = Value::Object(filled.content.clone());
            if check_answer(form, &content).is_ok() {
                return ElicitResult::accept_with(&content)
                    .map_err(|error| Unanswered::failure(FailureKind::Failed, error.to_string()));
            }
        }
        if self.args.decline && !is_given {
            return Ok(ElicitResult::decline());
        }
        match self.terminal() {
            Some(terminal) => {
                let _pause = self.screen.pause();
                Ok(form::ask(terminal, &self.name(), params, filled).await)
            }
            None => Err(unanswered_form(form, &filled, is_given)),
        }
    }

    async fn open_url(&self, params: &ElicitParams) -> Result<ElicitResult, Unanswered> {
        let page = match Page::parse(params) {
            Ok(page) => page,
            Err(why) => {
                let name = self.name();
                self.screen
                    .line(format!("{name} asks you to visit a page: {why}; declined"));
                return Ok(ElicitResult::decline());
            }
        };
        if self.args.decline {
            return Ok(ElicitResult::decline());
        }
        if self.args.accept {
            let name = self.name();
            self.screen
                .line(format!("{name} asks you to visit {}", page.address()));
            return Ok(ElicitResult::new(ElicitAction::Accept));
        }
        match self.terminal() {
            Some(terminal) => {
                let _pause = self.screen.pause();
                Ok(page::ask(terminal, &self.name(), params, &page).await)
            }
            None => Err(Unanswered::new("prompting is not possible here")),
        }
    }

    /// Returns the model's answer, or the user's in its place.
    pub(crate) async fn sample(
        &self,
        params: &CreateMessageParams,
    ) -> Result<SamplingResult, Unanswered> {
        let _question = self.question_lock.lock().await;
        let _clock_pause = self.clock.pause();
        if self.args.decline {
            return Ok(sampling::refused());
        }
        let command = self.model_command();
        // With `--accept`, the command runs without asking, up to a limit.
        let is_automatic =
            self.args.accept && command.is_some() && !self.is_sampling_limit_reached();
        if let Some(terminal) = self.terminal().filter(|_| !is_automatic) {
            let _pause = self.screen.pause();
            return Ok(sampling::ask(terminal, &self.name(), params, command).await);
        }
        let Some(command) = command else {
            return Err(Unanswered::new("no model is available"));
        };
        if self.is_sampling_limit_reached() {
            return Err(Unanswered::failure(
                FailureKind::Failed,
                self.sampling_limit_message(),
            ));
        }
        self.sampling_count.fetch_add(1, Ordering::Relaxed);
        command.run(params).await.map(Ok).map_err(|why| {
            let why = format!("`{}`: {why}", command.display_name());
            Unanswered::failure(FailureKind::Failed, why)
        })
    }

    /// Returns whether the command ran as often as allowed without asking the
    /// user.
    fn is_sampling_limit_reached(&self) -> bool {
        self.sampling_count.load(Ordering::Relaxed) >= self.args.max_sampling
    }

    fn sampling_limit_message(&self) -> String {
        let times = match self.args.max_sampling {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        format!(
            "a model was asked {times} in this call, which is the limit; raise it with \
             --max-sampling COUNT"
        )
    }
}

/// Fills in the defaults.
fn fill_defaults(form: &ElicitSchema, filled: &mut FilledForm) {
    for (name, schema) in form.properties.iter() {
        if let Some(default) = field::default(schema) {
            filled.content.entry(name).or_insert(default);
        }
    }
}

/// Returns what a form lacks. If answers were given, they were meant to be
/// sent, so this is a failure.
fn unanswered_form(form: &ElicitSchema, filled: &FilledForm, is_given: bool) -> Unanswered {
    if !filled.invalid.is_empty() {
        let each = filled.invalid.iter();
        let each: Vec<_> = each
            .map(|(name, why)| format!("{}: {why}", one_line(name)))
            .collect();
        return Unanswered::failure(FailureKind::Usage, each.join("; "));
    }
    let is_missing = |name: &&String| !filled.content.contains_key(*name);
    let missing = form.required.iter().filter(is_missing);
    let missing: Vec<_> = missing.map(|name| one_line(name)).collect();
    let why = match &missing[..] {
        [] => "prompting is not possible here".to_owned(),
        names => format!("no answer was given for {}", names.join(", ")),
    };
    match is_given {
        true => Unanswered::failure(FailureKind::Usage, why),
        false => Unanswered::new(why),
    }
}

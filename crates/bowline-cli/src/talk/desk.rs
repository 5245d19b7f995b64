//! Who answers: what was given beforehand, the person at the terminal, or
//! nobody.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use bowline::{
    Client,
    proto::{
        jsonrpc::RawJson,
        model::{
            CreateMessageParams, ElicitAction, ElicitParams, ElicitResult, ElicitSchema, InputKind,
            InputRequest, ListRootsResult, LogLevel, Members, Root,
        },
    },
};
use serde_json::Value;
use tokio::sync::Mutex as Turn;

use super::{
    args::{Logs, TalkArgs},
    field, form,
    given::{Filled, GivenAnswers},
    one_line,
    page::{self, Page},
    sampling::{self, Sampled},
    screen::Screen,
    settings::{self, ModelCommand},
    terminal::Terminal,
};
use crate::{args::Globals, failure::Failure, output::Output, target::Target};

/// Where the questions of servers are answered, one at a time.
pub(crate) struct Desk {
    args: TalkArgs,
    color: crate::args::Color,
    given: GivenAnswers,
    pub(crate) screen: Screen,
    terminal: OnceLock<Option<Terminal>>,
    command: OnceLock<Option<ModelCommand>>,
    asker: Mutex<Asker>,
    turn: Turn<()>,
}

/// Who asks.
#[derive(Clone, Default)]
pub(crate) struct Asker {
    /// The server, as it was named.
    pub(crate) target: Option<Target>,
    /// What it is called, for people.
    name: String,
}

/// Nobody answered, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct Unanswered {
    pub(crate) why: String,
    /// Whether something went wrong; that there is no answer is nothing new.
    pub(crate) trouble: bool,
}

impl Unanswered {
    fn new(why: impl Into<String>) -> Self {
        let why = why.into();
        let trouble = false;
        Self { why, trouble }
    }

    fn trouble(why: impl Into<String>) -> Self {
        let trouble = true;
        Self {
            trouble,
            ..Self::new(why)
        }
    }
}

impl Desk {
    pub(crate) fn new(globals: &Globals, output: &Output) -> Self {
        Self {
            args: globals.talk.clone(),
            color: globals.color,
            given: GivenAnswers::new(&globals.talk.answer),
            screen: Screen::new(output.remark_paint()),
            terminal: OnceLock::new(),
            command: OnceLock::new(),
            asker: Mutex::default(),
            turn: Turn::default(),
        }
    }

    /// Remembers which server it is that may ask.
    pub(crate) fn meet(&self, target: &Target) {
        *self.asker() = Asker {
            target: Some(target.clone()),
            name: one_line(target.name()),
        };
    }

    /// Uses the name that the server has for itself, where it was named by the
    /// command that starts it.
    pub(crate) fn introduce(&self, client: &Client) {
        let server = client.server();
        let info = server.as_ref().and_then(|server| server.info.as_ref());
        let mut asker = self.asker();
        if let (Some(Target::Command(_)), Some(info)) = (&asker.target, info) {
            asker.name = one_line(&info.name);
        }
    }

    /// The server that asks, and its name.
    pub(crate) fn target(&self) -> Option<Target> {
        self.asker().target.clone()
    }

    pub(crate) fn name(&self) -> String {
        self.asker().name.clone()
    }

    fn asker(&self) -> MutexGuard<'_, Asker> {
        self.asker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folders in which servers may work.
    pub(crate) fn roots(&self) -> Vec<Root> {
        let root = |path: &std::path::PathBuf| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let url = url::Url::from_file_path(path).ok()?;
            Some(Root::new(url))
        };
        self.args.root.iter().filter_map(root).collect()
    }

    /// Whether progress is shown in lines where no terminal shows it.
    pub(crate) fn plain_progress(&self) -> bool {
        self.args.progress
    }

    /// Which log messages are shown.
    pub(crate) fn logs(&self) -> Logs {
        match &self.args.log {
            Some(logs) => logs.clone(),
            None if self.screen.is_live() => Logs::From(LogLevel::Info),
            None => Logs::AsItComes,
        }
    }

    /// The command that answers for a model, if there is one.
    pub(crate) fn command(&self) -> Option<&ModelCommand> {
        let find = || {
            settings::model_command(self.args.sampling_command.as_deref()).unwrap_or_else(|why| {
                self.screen.line(format!("{why}; no model can be asked"));
                None
            })
        };
        self.command.get_or_init(find).as_ref()
    }

    /// The person who can be asked, if there is one.
    pub(crate) fn terminal(&self) -> Option<&Terminal> {
        let open = || Terminal::open(|shown| self.color.wanted(shown));
        let silent = self.args.no_input || self.args.decline;
        let terminal = self
            .terminal
            .get_or_init(|| if silent { None } else { open() });
        terminal.as_ref()
    }

    /// Whether an answer was given for a question.
    pub(crate) fn has_answer(&self, key: &str, question: &InputRequest) -> bool {
        let InputKind::Elicit(params) = &question.kind else {
            return false;
        };
        let form = params.requested_schema.as_ref();
        form.is_some_and(|form| self.given.fill(Some(key), form) != Filled::default())
    }

    /// What was given and never asked for.
    pub(crate) fn unused_answers(&self) -> Vec<String> {
        self.given.unused()
    }
}

impl Desk {
    /// The answer to a question of a call that goes on in rounds.
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
                // There are no words for a refusal: it ends the call.
                Ok(Err(error)) => return Err(Failure::failed(error.message.to_string())),
                Err(unanswered) => return Ok(Err(unanswered)),
            },
            InputKind::ListRoots(_) => RawJson::encode(&ListRootsResult::new(self.roots())),
            _ => {
                let method = one_line(question.method());
                let message = format!("{} asks for `{method}`, which is unknown", self.name());
                return Err(Failure::failed(message));
            }
        };
        answer
            .map(Ok)
            .map_err(|error| Failure::failed(error.to_string()))
    }

    /// The person's answer to a form or to a page.
    pub(crate) async fn elicit(
        &self,
        key: Option<&str>,
        params: &ElicitParams,
    ) -> Result<ElicitResult, Unanswered> {
        let _turn = self.turn.lock().await;
        if params.is_url() {
            return self.visit(params).await;
        }
        let empty = ElicitSchema::new(Members::new());
        let form = params.requested_schema.as_ref().unwrap_or(&empty);
        let mut filled = self.given.fill(key, form);
        if self.args.accept {
            fill_defaults(form, &mut filled);
        }
        let wanted = !filled.content.is_empty() || self.args.accept;
        if filled.wrong.is_empty() && wanted {
            let content = Value::Object(filled.content.clone());
            if form.check(&content).is_ok() {
                return ElicitResult::accept_with(&content)
                    .map_err(|error| Unanswered::trouble(error.to_string()));
            }
        }
        if self.args.decline {
            return Ok(ElicitResult::decline());
        }
        match self.terminal() {
            Some(terminal) => {
                let _pause = self.screen.pause();
                Ok(form::ask(terminal, &self.name(), params, filled).await)
            }
            None => Err(missing(form, &filled)),
        }
    }

    async fn visit(&self, params: &ElicitParams) -> Result<ElicitResult, Unanswered> {
        let page = match Page::of(params) {
            Ok(page) => page,
            Err(why) => {
                let name = self.name();
                self.screen.line(format!(
                    "{name} wants to send you to a page: {why}; declined"
                ));
                return Ok(ElicitResult::decline());
            }
        };
        if self.args.decline {
            return Ok(ElicitResult::decline());
        }
        if self.args.accept {
            let name = self.name();
            self.screen
                .line(format!("{name} wants you to visit {}", page.address()));
            return Ok(ElicitResult::new(ElicitAction::Accept));
        }
        match self.terminal() {
            Some(terminal) => {
                let _pause = self.screen.pause();
                Ok(page::ask(terminal, &self.name(), params, &page).await)
            }
            None => Err(Unanswered::new("nobody is here to visit a page")),
        }
    }

    /// The model's answer, or the person's in its place.
    pub(crate) async fn sample(&self, params: &CreateMessageParams) -> Result<Sampled, Unanswered> {
        let _turn = self.turn.lock().await;
        if self.args.decline {
            return Ok(sampling::refused());
        }
        let command = self.command();
        // Whoever says yes beforehand is not asked whether the command may be.
        let settled = self.args.accept && command.is_some();
        if let Some(terminal) = self.terminal().filter(|_| !settled) {
            let _pause = self.screen.pause();
            return Ok(sampling::ask(terminal, &self.name(), params, command).await);
        }
        match command {
            Some(command) => match command.run(params).await {
                Ok(answer) => Ok(Ok(answer)),
                Err(why) => Err(Unanswered::trouble(format!("`{}`: {why}", command.shown()))),
            },
            None => Err(Unanswered::new("there is no model here")),
        }
    }
}

/// Fills in what the server would begin with.
fn fill_defaults(form: &ElicitSchema, filled: &mut Filled) {
    for (name, schema) in form.properties.iter() {
        if let Some(default) = field::default(schema) {
            filled.content.entry(name).or_insert(default);
        }
    }
}

/// What a form lacks.
fn missing(form: &ElicitSchema, filled: &Filled) -> Unanswered {
    if let Some((name, why)) = filled.wrong.first() {
        return Unanswered::trouble(format!("{}: {why}", one_line(name)));
    }
    let lacks = |name: &&String| !filled.content.contains_key(*name);
    let missing = form.required.iter().filter(lacks);
    let missing: Vec<_> = missing.map(|name| one_line(name)).collect();
    match &missing[..] {
        [] => Unanswered::new("nobody is here to answer"),
        names => Unanswered::new(format!("there is no answer for {}", names.join(", "))),
    }
}

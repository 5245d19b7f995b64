//! Suspended calls, stored across runs of this command.
//!
//! A suspended call is one file that only its owner can read: it contains the
//! server's state of the call.

mod call_id;
mod store;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bowline::{
    Revision,
    client::{SavedTask, SuspendedCall},
    model::{InputRequests, InputResponses},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use self::store::CallStore;
use super::question;
use crate::{
    context::Context,
    failure::Failure,
    output::escape_control,
    target::{ConfiguredServer, Servers, Target, trust::Digest},
};

/// A suspended call.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct StoredCall {
    /// Its name.
    pub(crate) id: String,
    /// When it was suspended, in seconds since 1970.
    at: u64,
    server: ServerReference,
    /// Display name of the server.
    pub(crate) name: String,
    /// The directory in which the command ran.
    folder: PathBuf,
    /// The protocol revision of the session.
    protocol: Option<String>,
    pub(crate) tool: String,
    /// The call itself, if it waits for answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    continuation: Option<SuspendedCall>,
    /// The task that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<StoredTask>,
    /// The answers given so far.
    #[serde(default)]
    pub(crate) answers: InputResponses,
}

/// What is stored of a call.
#[derive(Clone, Debug)]
pub(crate) enum StoredWork {
    /// The call itself, which waits for answers.
    Call(SuspendedCall),
    /// The task that it became.
    Task(StoredTask),
}

/// A task that goes on at its server.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StoredTask {
    pub(crate) saved: SavedTask,
    /// The questions that it waits for.
    #[serde(default)]
    pub(crate) questions: InputRequests,
}

/// How to find the server again.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ServerReference {
    Demo,
    Configured {
        name: String,
        config: PathBuf,
        /// Digest of its entry. Without it, no entry matches.
        #[serde(default)]
        digest: Option<Digest>,
    },
    Url {
        url: String,
        /// Only their names: the values may be secrets.
        headers: Vec<String>,
    },
    Command {
        words: Vec<String>,
    },
}

impl StoredCall {
    /// Records a call whose questions have just arrived.
    pub(crate) fn new(
        cx: &Context,
        id: String,
        negotiated: Option<Revision>,
        tool: &str,
        work: StoredWork,
        answers: InputResponses,
    ) -> Result<Self, Failure> {
        let target = cx.responder.target();
        let target = target.ok_or_else(|| Failure::failed("the server of the call is unknown"))?;
        let mut stored = Self {
            id,
            at: unix_now(),
            server: ServerReference::from_target(&target, cx),
            name: cx.responder.name(),
            folder: std::env::current_dir()?,
            protocol: negotiated.map(|revision| revision.as_str().to_owned()),
            tool: tool.to_owned(),
            continuation: None,
            task: None,
            answers,
        };
        stored.set_work(work);
        Ok(stored)
    }

    /// Returns what has to be done, if the file has it.
    pub(crate) fn work(&self) -> Option<StoredWork> {
        match (&self.task, &self.continuation) {
            (Some(task), _) => Some(StoredWork::Task(task.clone())),
            (None, Some(call)) => Some(StoredWork::Call(call.clone())),
            (None, None) => None,
        }
    }

    pub(crate) fn set_work(&mut self, work: StoredWork) {
        (self.continuation, self.task) = match work {
            StoredWork::Call(call) => (Some(call), None),
            StoredWork::Task(task) => (None, Some(task)),
        };
    }

    /// Returns how long ago it was suspended.
    pub(crate) fn age(&self) -> Duration {
        Duration::from_secs(unix_now().saturating_sub(self.at))
    }

    /// Returns the session's revision: the state is only valid in it.
    pub(crate) fn revision(&self) -> Option<Revision> {
        Revision::parse(self.protocol.as_deref()?)
    }

    /// Returns the file in which the server was configured, if any.
    pub(crate) fn config(&self) -> Option<PathBuf> {
        match &self.server {
            ServerReference::Configured { config, .. } => Some(config.clone()),
            _ => None,
        }
    }

    /// Returns the directory in which the command ran.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Changes to the directory in which the command ran: a local server
    /// started elsewhere may be a different one. Remote servers do not depend
    /// on it.
    pub(crate) fn enter_folder(&self) -> Result<(), Failure> {
        let Err(error) = std::env::set_current_dir(&self.folder) else {
            return Ok(());
        };
        if let ServerReference::Demo | ServerReference::Url { .. } = self.server {
            return Ok(());
        }
        let folder = self.folder.display();
        let why = match error.kind() {
            ErrorKind::NotFound => "no longer exists".to_owned(),
            _ => format!("cannot be entered: {error}"),
        };
        let why = format!("the folder {folder}, in which the call was made, {why}");
        Err(self.with_discard_hint(Failure::usage(why).hint("restore it, or make a new call")))
    }

    /// Adds a hint about discarding a call that cannot be resumed.
    fn with_discard_hint(&self, failure: Failure) -> Failure {
        let id = &self.id;
        failure.hint(format!(
            "discard the call with `bowline resume {id} --discard`"
        ))
    }

    /// Returns the server that the call was made to. A server of the same name
    /// with a different entry may be anyone's, and gets no answers.
    pub(crate) fn target(&self, cx: &Context) -> Result<Target, Failure> {
        Ok(match &self.server {
            ServerReference::Demo => Target::Demo,
            ServerReference::Url { url, headers } => {
                self.check_headers(headers, cx)?;
                Target::Url(url.clone())
            }
            ServerReference::Command { words } => Target::Command(words.clone()),
            ServerReference::Configured {
                name,
                config,
                digest,
            } => {
                let servers = Servers::load(&cx.globals)?;
                let found = servers.get(name).cloned().ok_or_else(|| {
                    let file = config.display();
                    let why = format!("server `{name}` no longer exists in {file}");
                    self.with_discard_hint(Failure::usage(why))
                })?;
                if *digest != Some(Digest::new(&found)) {
                    return Err(self.with_discard_hint(changed_failure(name, config, &found)));
                }
                Target::Configured(Box::new(found))
            }
        })
    }

    /// Checks that headers are given again. They are not stored, because they
    /// are often secrets.
    fn check_headers(&self, names: &[String], cx: &Context) -> Result<(), Failure> {
        let is_given = |name: &&String| {
            let start = format!("{}:", name.to_lowercase());
            let mut headers = cx.globals.header.iter();
            headers.any(|header| header.to_lowercase().starts_with(&start))
        };
        match names.iter().find(|name| !is_given(name)) {
            Some(name) => Err(
                Failure::usage(format!("header `{name}` must be given again"))
                    .hint(format!("headers are not stored: add --header '{name}: …'")),
            ),
            None => Ok(()),
        }
    }

    /// Returns the task, if it is one.
    pub(crate) fn task(&self) -> Option<&StoredTask> {
        self.task.as_ref()
    }

    /// Returns the questions that it waits for.
    pub(crate) fn questions(&self) -> &InputRequests {
        static NONE: InputRequests = InputRequests::new();
        match (&self.task, &self.continuation) {
            (Some(task), _) => &task.questions,
            (None, Some(call)) => call.questions(),
            (None, None) => &NONE,
        }
    }

    /// Returns whether a question is still unanswered.
    pub(crate) fn is_open(&self, key: &str) -> bool {
        !self.answers.contains_key(key)
    }

    /// Returns the command line that resumes it.
    pub(crate) fn command_line(&self) -> String {
        let is_unanswered = |key: &str| self.is_open(key);
        let is_asked = !self.questions().is_empty();
        let command = match self.task {
            Some(_) if !is_asked => "bowline tasks wait",
            _ => "bowline resume",
        };
        let mut words = vec![command.to_owned(), self.id.clone()];
        words.extend(question::answer_words(self.questions(), is_unanswered));
        if let ServerReference::Url { headers, .. } = &self.server {
            words.extend(headers.iter().map(|name| format!("--header '{name}: …'")));
        }
        words.join(" ")
    }

    /// Prints the open questions and how to resume.
    pub(crate) fn report(&self, cx: &Context) -> Result<(), Failure> {
        let questions = self.questions();
        if cx.json() {
            let value = json!({
                "suspended": self.id,
                "questions": serde_json::to_value(questions).unwrap_or(Value::Null),
                "resume": self.command_line(),
            });
            return cx.output.json(&value);
        }
        let paint = cx.output.note_paint();
        let id = paint.bold(&self.id);
        let print = |text: String| cx.output.note(text);
        print(format!(
            "{} is waiting for answers; the call is suspended as {id}:",
            self.name
        ));
        for (key, question) in questions.iter() {
            if self.is_open(key) {
                for line in question::lines(key, question, paint) {
                    print(line);
                }
            }
        }
        print("resume it in a terminal, or with the answers:".to_owned());
        print(format!("  {}", self.command_line()));
        Ok(())
    }
}

impl ServerReference {
    fn from_target(target: &Target, cx: &Context) -> Self {
        match target {
            Target::Demo => Self::Demo,
            Target::Configured(found) => Self::Configured {
                name: found.entry.name.clone(),
                config: std::path::absolute(&found.path).unwrap_or_else(|_| found.path.clone()),
                digest: Some(Digest::new(found)),
            },
            Target::Url(url) => {
                let headers = cx.globals.header.iter();
                let name = |header: &String| Some(header.split_once(':')?.0.trim().to_owned());
                Self::Url {
                    url: url.clone(),
                    headers: headers.filter_map(name).collect(),
                }
            }
            Target::Command(words) => Self::Command {
                words: words.clone(),
            },
        }
    }
}

/// Returns the failure for a name that now refers to another server.
fn changed_failure(name: &str, config: &Path, found: &ConfiguredServer) -> Failure {
    let change = match std::path::absolute(&found.path) {
        Ok(path) if path != config => {
            format!(
                "it was configured in {}, and now is in {}",
                config.display(),
                path.display()
            )
        }
        _ => format!("its entry in {} has changed", config.display()),
    };
    let why = format!("`{name}` is no longer the server that the call was made to: {change}");
    Failure::usage(escape_control(&why)).hint("restore the entry, or make a new call")
}

fn unix_now() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    since_epoch.unwrap_or_default().as_secs()
}

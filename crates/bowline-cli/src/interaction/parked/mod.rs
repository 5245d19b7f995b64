//! Calls that wait for answers, across runs of this command.
//!
//! A parked call is one file, for the eyes of its owner only: what the server
//! knows of the call is in it.

mod call_id;
mod store;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bowline::{Revision, client::SuspendedCall, model::InputResponses};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use self::store::ParkedStore;
use super::question;
use crate::{
    context::Context,
    failure::Failure,
    output::escape_control,
    target::{ConfiguredServer, Servers, Target, trust::Digest},
};

/// A call that waits.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ParkedCall {
    /// What it is called.
    pub(crate) id: String,
    /// When it was parked, in seconds since 1970.
    at: u64,
    server: ServerReference,
    /// What the server is called, for people.
    pub(crate) name: String,
    /// Where the command was run.
    folder: PathBuf,
    /// The revision that was spoken.
    protocol: Option<String>,
    pub(crate) tool: String,
    pub(crate) continuation: SuspendedCall,
    /// What has been answered already.
    #[serde(default)]
    pub(crate) answers: InputResponses,
}

/// Where the server is, so that it is found again.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ServerReference {
    Demo,
    Configured {
        name: String,
        config: PathBuf,
        /// What its entry said. Without it, no entry is the same.
        #[serde(default)]
        digest: Option<Digest>,
    },
    Url {
        url: String,
        /// Only their names: what they say may be a secret.
        headers: Vec<String>,
    },
    Command {
        words: Vec<String>,
    },
}

impl ParkedCall {
    /// Writes down a call that has just been asked something.
    pub(crate) fn new(
        cx: &Context,
        id: String,
        negotiated: Option<Revision>,
        tool: &str,
        continuation: SuspendedCall,
        answers: InputResponses,
    ) -> Result<Self, Failure> {
        let target = cx.responder.target();
        let target = target.ok_or_else(|| Failure::failed("there is no server to go back to"))?;
        Ok(Self {
            id,
            at: unix_now(),
            server: ServerReference::from_target(&target, cx),
            name: cx.responder.name(),
            folder: std::env::current_dir()?,
            protocol: negotiated.map(|revision| revision.as_str().to_owned()),
            tool: tool.to_owned(),
            continuation,
            answers,
        })
    }

    /// How long ago it was parked.
    pub(crate) fn age(&self) -> Duration {
        Duration::from_secs(unix_now().saturating_sub(self.at))
    }

    /// The revision that was spoken: what waits belongs to it.
    pub(crate) fn revision(&self) -> Option<Revision> {
        Revision::parse(self.protocol.as_deref()?)
    }

    /// The file in which the server was found, if it was found in one.
    pub(crate) fn config(&self) -> Option<PathBuf> {
        match &self.server {
            ServerReference::Configured { config, .. } => Some(config.clone()),
            _ => None,
        }
    }

    /// The folder in which the command was run.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Goes to the folder in which the command was run: a server that is
    /// started elsewhere is another one. What is not started here is the same
    /// from everywhere.
    pub(crate) fn enter_folder(&self) -> Result<(), Failure> {
        let Err(error) = std::env::set_current_dir(&self.folder) else {
            return Ok(());
        };
        if let ServerReference::Demo | ServerReference::Url { .. } = self.server {
            return Ok(());
        }
        let folder = self.folder.display();
        let why = match error.kind() {
            ErrorKind::NotFound => "is not there any more".to_owned(),
            _ => format!("cannot be entered: {error}"),
        };
        let why = format!("the folder {folder}, in which the call was made, {why}");
        Err(self.with_discard_hint(Failure::usage(why).hint("put it back, or make the call anew")))
    }

    /// Says how to forget a call that cannot go on.
    fn with_discard_hint(&self, failure: Failure) -> Failure {
        let id = &self.id;
        failure.hint(format!("`bowline resume {id} --discard` forgets the call"))
    }

    /// The server that the call was made to. One that has its name and is
    /// described in other words may be anybody's, and gets no answers.
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
                    let why = format!("there is no server `{name}` in {file} any more");
                    self.with_discard_hint(Failure::usage(why))
                })?;
                if *digest != Some(Digest::new(&found)) {
                    return Err(self.with_discard_hint(changed_failure(name, config, &found)));
                }
                Target::Configured(Box::new(found))
            }
        })
    }

    /// Headers are not kept, because they are often secrets.
    fn check_headers(&self, names: &[String], cx: &Context) -> Result<(), Failure> {
        let is_given = |name: &&String| {
            let start = format!("{}:", name.to_lowercase());
            let mut headers = cx.globals.header.iter();
            headers.any(|header| header.to_lowercase().starts_with(&start))
        };
        match names.iter().find(|name| !is_given(name)) {
            Some(name) => Err(
                Failure::usage(format!("the header `{name}` is needed again"))
                    .hint(format!("headers are not kept: add --header '{name}: …'")),
            ),
            None => Ok(()),
        }
    }

    /// Whether a question is not answered yet.
    pub(crate) fn is_open(&self, key: &str) -> bool {
        !self.answers.contains_key(key)
    }

    /// The command line that goes on with it.
    pub(crate) fn command_line(&self) -> String {
        let is_unanswered = |key: &str| self.is_open(key);
        let mut words = vec!["bowline resume".to_owned(), self.id.clone()];
        words.extend(question::answer_words(
            self.continuation.questions(),
            is_unanswered,
        ));
        if let ServerReference::Url { headers, .. } = &self.server {
            words.extend(headers.iter().map(|name| format!("--header '{name}: …'")));
        }
        words.join(" ")
    }

    /// Says what is open, and how to go on.
    pub(crate) fn report(&self, cx: &Context) -> Result<(), Failure> {
        let questions = self.continuation.questions();
        if cx.json() {
            let value = json!({
                "parked": self.id,
                "questions": serde_json::to_value(questions).unwrap_or(Value::Null),
                "resume": self.command_line(),
            });
            return cx.output.json(&value);
        }
        let paint = cx.output.note_paint();
        let id = paint.bold(&self.id);
        let print = |text: String| cx.output.note(text);
        print(format!(
            "{} waits for answers; the call is parked as {id}:",
            self.name
        ));
        for (key, question) in questions.iter() {
            if self.is_open(key) {
                for line in question::lines(key, question, paint) {
                    print(line);
                }
            }
        }
        print("go on in a terminal, or with the answers:".to_owned());
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

/// The name means another server than it did.
fn changed_failure(name: &str, config: &Path, found: &ConfiguredServer) -> Failure {
    let change = match std::path::absolute(&found.path) {
        Ok(path) if path != config => {
            format!(
                "it was in {}, and is in {} now",
                config.display(),
                path.display()
            )
        }
        _ => format!("its entry in {} has changed since", config.display()),
    };
    let why = format!("`{name}` is not the server that the call was made to: {change}");
    Failure::usage(escape_control(&why)).hint("put the entry back, or make the call anew")
}

fn unix_now() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    since_epoch.unwrap_or_default().as_secs()
}

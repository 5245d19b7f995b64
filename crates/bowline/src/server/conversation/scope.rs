//! A conversation, or a branch of one: the names of what it asks and does, and
//! its bounds.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::{
    branch::deadline::Deadline,
    invocation::Invocation,
    question::OutgoingQuestion,
    sample::{history::MessageHistory, tokens, tokens::TokenBudget},
};
use crate::{
    proto::{jsonrpc::RawJson, model::InputKind},
    server::{
        error::{Error, ErrorKind, Result},
        limits::CallLimits,
    },
};

/// A conversation, or a branch of one: within it, things are counted.
#[derive(Debug)]
pub(crate) struct Scope {
    prefix: Box<str>,
    names: Mutex<NameCounters>,
    /// What this is a branch of.
    pub(super) parent: Option<Arc<Scope>>,
    pub(super) bounds: Bounds,
    /// What models were given and have written here, and in branches of it.
    pub(super) budget: TokenBudget,
    pub(super) history: MessageHistory,
    /// Until when it may go on, where it is replayed and that is limited.
    pub(super) deadline: OnceLock<Deadline>,
}

/// What may be done in a conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// How deep it is; the call itself is at 0.
    pub(super) depth: u32,
    /// How deep branches may be.
    pub(super) max_depth: u32,
    /// Whether the user may be asked.
    pub(super) may_elicit: bool,
}

#[derive(Debug, Default)]
struct NameCounters {
    /// How many questions were asked without a key.
    questions: u32,
    /// How many branches there were.
    branches: u32,
    /// How often each step was taken, and each key used.
    uses: HashMap<Box<str>, u32>,
}

impl Scope {
    /// The conversation of a call.
    pub(crate) fn root(limits: &CallLimits) -> Self {
        Self {
            prefix: "".into(),
            names: Mutex::default(),
            parent: None,
            bounds: Bounds {
                depth: 0,
                max_depth: limits.max_depth,
                may_elicit: true,
            },
            budget: TokenBudget::new(limits.max_tokens),
            history: MessageHistory::default(),
            deadline: OnceLock::new(),
        }
    }

    /// The name that the next branch has. Branches are numbered in the order
    /// in which they are written down, so that those which run at once keep
    /// their names.
    pub(super) fn next_branch_name(&self) -> Box<str> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.branches += 1;
        self.full_name(format_args!("{}/", names.branches)).into()
    }

    /// A branch of this, under the name that was given to it.
    pub(super) fn branch(
        self: &Arc<Self>,
        prefix: Box<str>,
        bounds: Bounds,
        tokens: Option<u64>,
        history: MessageHistory,
    ) -> Self {
        Self {
            prefix,
            names: Mutex::default(),
            parent: Some(Arc::clone(self)),
            bounds,
            budget: TokenBudget::new(tokens),
            history,
            deadline: OnceLock::new(),
        }
    }

    /// This, and all that it is a branch of, outwards.
    pub(super) fn ancestors(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref())
    }

    /// Asks the client, if that is within bounds.
    pub(super) async fn ask(
        &self,
        invocation: &Invocation,
        question: OutgoingQuestion<'_>,
    ) -> Result<RawJson> {
        let mut sampling = false;
        match &question.request.kind {
            InputKind::Elicit(_) => self.check_may_elicit()?,
            InputKind::CreateMessage(params) => {
                if let Some(capability) = invocation.context.missing_capability(&question.request) {
                    return Err(Error::missing_capability(capability));
                }
                self.reserve(tokens::estimate_question(params))?;
                sampling = true;
            }
            _ => {}
        }
        let answer = invocation.ask(self, question).await;
        self.check_deadlines(invocation).await?;
        let answer = answer?;
        if sampling {
            self.charge(tokens::estimate_answer(&answer));
        }
        Ok(answer)
    }

    fn check_may_elicit(&self) -> Result<()> {
        if self.bounds.may_elicit {
            return Ok(());
        }
        let depth = self.bounds.depth;
        let message = format!("a branch may not ask the user; this one is at depth {depth}");
        Err(Error::with_kind(
            ErrorKind::ElicitInBranch { depth },
            message,
        ))
    }

    /// The name of a question: what its author calls it, or its number.
    ///
    /// # Errors
    ///
    /// Where the author's key is used twice, or could be taken for a number.
    pub(super) fn question_name(&self, key: Option<&str>) -> Result<String> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(key) = key else {
            names.questions += 1;
            return Ok(self.full_name(names.questions));
        };
        if !is_valid_key(key) {
            return Err(invalid_key(
                key,
                "must be a name of letters, digits, - and _",
            ));
        }
        if names.count_use(key) > 0 {
            return Err(invalid_key(key, "is used twice in this conversation"));
        }
        Ok(self.full_name(key))
    }

    /// The name of something that has a name of its own, and may be repeated.
    /// Slashes are doubled, so that no step has the name of a branch's.
    pub(crate) fn unique_name(&self, name: &str) -> String {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let count = names.count_use(&format!("{name}#"));
        self.full_name(format_args!("{}#{count}", name.replace('/', "//")))
    }

    pub(super) fn full_name(&self, last: impl fmt::Display) -> String {
        format!("{}{last}", self.prefix)
    }
}

impl NameCounters {
    /// How often this was counted before.
    fn count_use(&mut self, name: &str) -> u32 {
        let uses = self.uses.entry(name.into()).or_default();
        let before = *uses;
        *uses += 1;
        before
    }
}

/// Keys begin with a letter, so that they are not taken for numbers.
fn is_valid_key(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn invalid_key(key: &str, why: &str) -> Error {
    Error::with_kind(ErrorKind::InvalidQuestion, format!("the key {key:?} {why}"))
}

//! The scope of a conversation or branch: the names of its questions and steps,
//! and its limits.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock},
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
    sync,
};

/// A conversation or a branch, within which names are counted.
#[derive(Debug)]
pub(crate) struct Scope {
    prefix: Box<str>,
    names: Mutex<NameCounters>,
    /// The scope that this is a branch of.
    pub(super) parent: Option<Arc<Scope>>,
    pub(super) bounds: Bounds,
    /// The tokens used here and in its branches.
    pub(super) budget: TokenBudget,
    pub(super) history: MessageHistory,
    /// The deadline, if the conversation is replayed and has one.
    pub(super) deadline: OnceLock<Deadline>,
}

/// The limits of a conversation or branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The depth of this branch; 0 for the call itself.
    pub(super) depth: u32,
    /// The maximum depth of branches.
    pub(super) max_depth: u32,
    /// Whether the user may be asked.
    pub(super) may_elicit: bool,
}

#[derive(Debug, Default)]
struct NameCounters {
    /// The number of questions asked without a key.
    questions: u32,
    /// The number of branches.
    branches: u32,
    /// How often each step name and each key was used.
    uses: HashMap<Box<str>, u32>,
}

impl Scope {
    /// Creates the scope of a call.
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

    /// Returns the name of the next branch. Branches are numbered in the order
    /// in which they are created, so concurrent ones keep their names.
    pub(super) fn next_branch_name(&self) -> Box<str> {
        let mut names = sync::lock(&self.names);
        names.branches += 1;
        self.full_name(format_args!("{}/", names.branches)).into()
    }

    /// Creates a branch with this name.
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

    /// Returns this scope and all enclosing ones, from the inside out.
    pub(super) fn ancestors(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref())
    }

    /// Asks the client, if that is within the limits.
    pub(super) async fn ask(
        &self,
        invocation: &Invocation,
        question: OutgoingQuestion<'_>,
    ) -> Result<RawJson> {
        let mut sampling = false;
        match &question.request.kind {
            InputKind::Elicit(_) => self.check_may_elicit()?,
            InputKind::CreateMessage(params) => {
                if let Some(capability) = invocation
                    .request
                    .context
                    .missing_capability(&question.request)
                {
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
        let message = format!(
            "this branch, at depth {depth}, may not ask the user: call `allow_elicitation`"
        );
        Err(Error::with_kind(
            ErrorKind::ElicitInBranch { depth },
            message,
        ))
    }

    /// Returns the name of a question: its key, or its number.
    ///
    /// # Errors
    ///
    /// Returns an error if the key is used twice, or is not a valid key.
    pub(super) fn question_name(&self, key: Option<&str>) -> Result<String> {
        let mut names = sync::lock(&self.names);
        let Some(key) = key else {
            names.questions += 1;
            return Ok(self.full_name(names.questions));
        };
        if !is_valid_key(key) {
            return Err(invalid_key(
                key,
                "must begin with a letter and contain only letters, digits, - and _",
            ));
        }
        if names.count_use(key) > 0 {
            return Err(invalid_key(key, "is used twice in this conversation"));
        }
        Ok(self.full_name(key))
    }

    /// Returns a unique name for something that may be repeated. Slashes are
    /// doubled, so no step has the name of a branch's step.
    pub(crate) fn unique_name(&self, name: &str) -> String {
        let mut names = sync::lock(&self.names);
        let count = names.count_use(&format!("{name}#"));
        self.full_name(format_args!("{}#{count}", name.replace('/', "//")))
    }

    pub(super) fn full_name(&self, last: impl fmt::Display) -> String {
        format!("{}{last}", self.prefix)
    }
}

impl NameCounters {
    /// Counts a use and returns the number of earlier ones.
    fn count_use(&mut self, name: &str) -> u32 {
        let uses = self.uses.entry(name.into()).or_default();
        let before = *uses;
        *uses += 1;
        before
    }
}

/// Returns whether a key is valid. It begins with a letter, so it cannot be
/// mistaken for a number.
fn is_valid_key(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn invalid_key(key: &str, why: &str) -> Error {
    Error::with_kind(ErrorKind::InvalidQuestion, format!("the key {key:?} {why}"))
}

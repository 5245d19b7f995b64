//! Branches: conversations within a conversation.

pub(super) mod deadline;

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use super::{
    Conversation,
    sample::history::MessageHistory,
    scope::{Bounds, Scope},
};
use crate::{
    proto::model::SamplingMessage,
    server::error::{Error, ErrorKind, Result},
};

/// A nested conversation, created by [`Conversation::branch`]. Await it to run it.
#[must_use = "a branch does nothing until it is awaited"]
pub struct Branch<'a, S, F> {
    parent: &'a Conversation<S>,
    work: F,
    name: Box<str>,
    options: BranchOptions,
}

/// The settings in which a branch differs from its parent.
#[derive(Debug)]
struct BranchOptions {
    inherit_messages: bool,
    inherit_system: bool,
    system: Option<String>,
    messages: Vec<SamplingMessage>,
    max_depth: Option<u32>,
    max_tokens: Option<u64>,
    timeout: Option<Duration>,
    allow_elicitation: bool,
}

impl<'a, S, F> Branch<'a, S, F> {
    pub(super) fn new(parent: &'a Conversation<S>, work: F) -> Self {
        Self {
            parent,
            work,
            name: parent.scope.next_branch_name(),
            options: BranchOptions {
                inherit_messages: true,
                inherit_system: true,
                system: None,
                messages: Vec::new(),
                max_depth: None,
                max_tokens: None,
                timeout: None,
                allow_elicitation: false,
            },
        }
    }

    /// Sets whether models receive the messages from before the branch. The
    /// default is `true`.
    pub fn inherit_messages(mut self, inherit: bool) -> Self {
        self.options.inherit_messages = inherit;
        self
    }

    /// Sets whether the branch inherits the system prompt. The default is
    /// `true`.
    pub fn inherit_system(mut self, inherit: bool) -> Self {
        self.options.inherit_system = inherit;
        self
    }

    /// Sets the system prompt, instead of the inherited one.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.options.system = Some(system.into());
        self
    }

    /// Adds messages to the history of this branch, after the inherited ones.
    pub fn messages(mut self, messages: Vec<SamplingMessage>) -> Self {
        self.options.messages = messages;
        self
    }

    /// Sets the maximum depth of nested branches, counted from the call. A value
    /// above that of the parent has no effect.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.options.max_depth = Some(depth);
        self
    }

    /// Sets the maximum number of tokens, input and output, in this branch and
    /// its branches. They are charged to all enclosing conversations too.
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.options.max_tokens = Some(tokens);
        self
    }

    /// Sets how long the branch may take, including the time for its answers.
    /// After that it is dropped, with everything it waits for, and fails.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Lets the branch ask the user, if its parent may.
    pub fn allow_elicitation(mut self) -> Self {
        self.options.allow_elicitation = true;
        self
    }
}

impl BranchOptions {
    /// Returns the limits of a branch of this scope. They are never wider.
    fn bounds(&self, parent: Bounds) -> Result<Bounds> {
        let limit = self.max_depth.unwrap_or(u32::MAX).min(parent.max_depth);
        let depth = parent.depth.saturating_add(1);
        if depth > limit {
            let message = format!("branches are nested deeper than the limit of {limit}");
            return Err(Error::with_kind(
                ErrorKind::DepthExceeded { limit },
                message,
            ));
        }
        Ok(Bounds {
            depth,
            max_depth: limit,
            may_elicit: self.allow_elicitation && parent.may_elicit,
        })
    }

    fn history(&mut self, parent: &MessageHistory) -> MessageHistory {
        let parent_messages = parent.messages();
        let mut messages = Vec::new();
        if self.inherit_messages {
            messages.clone_from(&parent_messages);
        }
        messages.append(&mut self.messages);
        let inherited = parent.system.clone().filter(|_| self.inherit_system);
        let mut history = MessageHistory::from_messages(messages);
        history.system = self.system.take().or(inherited);
        history.parent_messages = parent_messages;
        history.parent_system.clone_from(&parent.system);
        history
    }
}

impl<'a, S, F, W, R> Branch<'a, S, F>
where
    F: FnOnce(Conversation<S>) -> W,
    W: Future<Output = Result<R>>,
{
    fn enter(mut self) -> Result<(Arc<Scope>, W, Option<Duration>)> {
        let parent = &self.parent.scope;
        let bounds = self.options.bounds(parent.bounds)?;
        let history = self.options.history(&parent.history);
        let scope = parent.branch(self.name, bounds, self.options.max_tokens, history);
        let scope = Arc::new(scope);
        let conversation = self.parent.in_scope(Arc::clone(&scope));
        Ok((scope, (self.work)(conversation), self.options.timeout))
    }
}

impl<'a, S, F, W, R> IntoFuture for Branch<'a, S, F>
where
    S: Send + Sync,
    F: FnOnce(Conversation<S>) -> W + Send + 'a,
    W: Future<Output = Result<R>> + Send + 'a,
    R: Send + 'a,
{
    type Output = Result<R>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<R>> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let invocation = &self.parent.invocation;
            let (scope, work, timeout) = self.enter()?;
            match timeout {
                Some(after) => scope.run_with_timeout(invocation, after, work).await,
                None => work.await,
            }
        })
    }
}

impl<S, F> fmt::Debug for Branch<'_, S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut branch = f.debug_struct("Branch");
        branch.field("name", &self.name).finish_non_exhaustive()
    }
}

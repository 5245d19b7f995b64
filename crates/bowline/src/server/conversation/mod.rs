//! Conversations with the client during a call.
//!
//! [`Conversation`] is the author's view: questions to the user and to models,
//! steps, branches. [`HandlerContext`] is the part of it that asks nothing.
//! Below them, [`invocation`] is one call of a client, and [`client_channel`]
//! the channel back to it. Live and replayed conversations differ only in
//! [`question`], [`step`] and the [deadlines](branch::deadline) of branches.
//! [`lifecycle`] tracks whether the caller is still there, and the work that
//! continues without it. [`scope`] names questions and steps, and enforces
//! limits.

mod branch;
pub(crate) mod client_channel;
mod context;
mod elicit;
pub(crate) mod invocation;
pub(crate) mod lifecycle;
mod question;
mod roots;
mod sample;
mod scope;
pub(crate) mod step;

use std::{fmt, future::Future, ops::Deref, sync::Arc};

use self::{elicit::Confirmation, question::OutgoingQuestion, scope::Scope};
use crate::{
    proto::{jsonrpc::RawJson, model::SamplingMessage},
    server::{error::Result, form::Elicit},
};
pub use branch::Branch;
pub use context::HandlerContext;
pub use elicit::{
    Elicitation, Elicited, OnDecline, RequiredElicitation, RetryingElicitation, UrlElicitation,
};
pub use roots::RootsRequest;
pub use sample::{
    ModelPrompt, Sample, SampleText, SampleToolCalls, SampleValue, Sampled, StructuredSample,
    ToolCalls,
};
pub use step::Step;

/// A call from its first request to its final result, with all questions to the
/// user and to models in between.
///
/// Questions are awaited like any future; between them there is ordinary code,
/// with loops, branches and early returns. The same code works in every revision
/// of the protocol that has such questions.
///
/// In revision 2026-07-28 servers cannot send requests, so questions are asked by
/// *replay*: the call ends with the question, the client calls the tool again with
/// the answer, and the handler runs again from its start. Questions that were
/// answered before return their recorded answers immediately. Each of these runs
/// is a *round* of the conversation. A call that has become a
/// [task](crate::server::tool::ToolBuilder::task) is replayed in every revision; there,
/// the server starts the next round itself. Replay has consequences:
///
/// - Code between questions may run several times. Put what must happen once, or
///   may give another result each time (the clock, a random number, a database),
///   in a [`step`](Self::step).
/// - At a question that has no answer yet, the handler's future is dropped, and so
///   is every future that it polls. Steps that have started finish first.
/// - Questions that are asked concurrently, with `join!`, are sent together.
///
/// It derefs to [`HandlerContext`].
pub struct Conversation<S = ()> {
    context: HandlerContext<S>,
    pub(super) scope: Arc<Scope>,
}

impl Conversation {
    /// Returns the same conversation with the type of the state.
    pub(crate) fn for_state<S>(self) -> Conversation<S> {
        Conversation {
            context: self.context.for_state(),
            scope: self.scope,
        }
    }
}

impl<S> Conversation<S> {
    pub(crate) fn new(context: HandlerContext<S>) -> Self {
        let scope = Arc::new(Scope::root(&context.invocation.limits));
        Self { context, scope }
    }

    /// Returns the context of the call, without the ability to ask.
    pub(crate) fn into_context(self) -> HandlerContext<S> {
        self.context
    }

    /// Returns the same call in a branch.
    pub(super) fn in_scope(&self, scope: Arc<Scope>) -> Self {
        let context = self.context.clone();
        Self { context, scope }
    }

    /// Asks the user to fill in a form (elicitation).
    ///
    /// ```
    /// # use bowline::server::{Conversation, Elicited, Result, form::FormBuilder};
    /// # async fn example(cx: Conversation) -> Result<()> {
    /// # use bowline::server::form::Elicit;
    /// #[derive(Elicit)]
    /// struct Trip {
    ///     /// Where to?
    ///     city: String,
    /// }
    ///
    /// match cx.elicit::<Trip>("Where do you want to go?").await? {
    ///     Elicited::Accepted(trip) => println!("to {}", trip.city),
    ///     Elicited::Declined => println!("nowhere"),
    ///     Elicited::Cancelled => println!("who knows"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn elicit<T: Elicit>(&self, message: impl Into<String>) -> Elicitation<'_, T> {
        Elicitation::new(&self.context.invocation, &self.scope, message.into())
    }

    /// Asks the user to confirm.
    ///
    /// # Errors
    ///
    /// Returns an error unless the user confirms: if the user says no, declines or
    /// cancels, and, as with every question, if the client cannot be asked or does
    /// not answer.
    pub async fn confirm(&self, message: impl Into<String>) -> Result<()> {
        self.elicit::<Confirmation>(message)
            .required()
            .await?
            .into_result()
    }

    /// Asks the user to visit a URL, for input that the client should not see, such
    /// as a password or a payment. [`Elicited::Accepted`] means that the user agreed
    /// to open the URL, not that they completed what the page asks for.
    pub fn elicit_url(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> UrlElicitation<'_> {
        UrlElicitation::new(
            &self.context.invocation,
            &self.scope,
            message.into(),
            url.into(),
        )
    }

    /// Asks the client for its roots.
    pub fn roots(&self) -> RootsRequest<'_> {
        RootsRequest::new(&self.context.invocation, &self.scope)
    }

    /// Asks the client's model (sampling).
    ///
    /// The model receives the earlier messages of this conversation, then the
    /// prompt. The prompt and the answer are added to these messages, and so are
    /// sent along with the next prompt. See [`ModelPrompt`] for other kinds of
    /// prompts.
    ///
    /// ```
    /// # use bowline::server::{Conversation, Result};
    /// # async fn example(cx: Conversation) -> Result<()> {
    /// let haiku = cx.sample("Write a haiku about knots.").max_tokens(100).await?;
    /// cx.confirm(format!("Shall this be printed?\n\n{haiku}")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sample(&self, prompt: impl Into<ModelPrompt>) -> Sample<'_> {
        Sample::new(&self.context.invocation, &self.scope, prompt.into())
    }

    /// Runs a nested conversation with its own model history and limits, and returns
    /// its value.
    ///
    /// The history of the branch begins with the messages that this conversation has
    /// exchanged with models so far. Messages of the branch are not added to the
    /// history of this conversation. Several branches may run concurrently, with
    /// `join!`. A branch may not ask the user, unless
    /// [`allow_elicitation`](Branch::allow_elicitation) is called.
    ///
    /// ```
    /// # use bowline::server::{Conversation, Result};
    /// # async fn example(cx: Conversation) -> Result<String> {
    /// let best = cx
    ///     .branch(async |b: Conversation| {
    ///         b.sample("Suggest three names for a boat.").await?;
    ///         let best = b.sample("Which is the best? Say only the name.").await?;
    ///         Ok(best.to_string())
    ///     })
    ///     .max_tokens(10_000)
    ///     .await?;
    /// # Ok(best)
    /// # }
    /// ```
    pub fn branch<F, W, R>(&self, work: F) -> Branch<'_, S, F>
    where
        F: FnOnce(Self) -> W,
        W: Future<Output = Result<R>>,
    {
        Branch::new(self, work)
    }

    /// Returns the messages exchanged with models in this conversation; in a
    /// branch, including those it inherited.
    #[must_use]
    pub fn messages(&self) -> Vec<SamplingMessage> {
        self.scope.history.messages()
    }

    /// Returns the messages of the parent conversation when this branch began.
    #[must_use]
    pub fn parent_messages(&self) -> &[SamplingMessage] {
        &self.scope.history.parent_messages
    }

    /// Returns the system prompt of this branch: the one that [`Branch::system`] set,
    /// or else the one that it inherited ([`Branch::inherit_system`]). The call itself
    /// has none.
    #[must_use]
    pub fn system(&self) -> Option<&str> {
        self.scope.history.system.as_deref()
    }

    /// Returns the system prompt of the parent conversation.
    #[must_use]
    pub fn parent_system(&self) -> Option<&str> {
        self.scope.history.parent_system.as_deref()
    }

    /// Returns the depth of this branch; 0 for the call itself.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.scope.bounds.depth
    }

    /// Runs a side effect once per conversation, no matter how many times the
    /// handler is replayed and on how many nodes.
    ///
    /// The return value is recorded as JSON, so it must implement `Serialize` and
    /// `DeserializeOwned`; a replay returns the recorded value. An error is recorded
    /// too, as [`ErrorKind::Failed`](crate::server::ErrorKind::Failed), whatever its
    /// kind was. A step must not ask anything or run other steps. It is identified
    /// by its name and, if the name is used more than once, by its position among
    /// the steps of that name.
    ///
    /// Exception to "once": a client that sends its first request twice starts two
    /// conversations, or two tasks, so steps before the first question run twice. Ask
    /// before a side effect that must not be repeated.
    ///
    /// A step that has started continues if the client disconnects, for up to
    /// [`abandoned_step_timeout`](crate::server::Server::abandoned_step_timeout).
    ///
    /// Some conversations can continue elsewhere: in revision 2026-07-28, after the first
    /// question, the client can repeat a round whose response it did not get; and in every
    /// revision, a task is taken over by another node if its own dies. The conversation
    /// then continues with the step's result. The step fails with
    /// [`ErrorKind::OutcomeUnknown`](crate::server::ErrorKind::OutcomeUnknown) if it
    /// has started but its outcome was not recorded: the node died, the store
    /// failed, or the client disconnected and the step took too long. Set
    /// [`recover`](Step::recover) to find out the outcome in these cases. Any other
    /// conversation ends with its connection, and the client can only start another.
    pub fn step<'a, T, W>(&'a self, name: &'a str, work: W) -> Step<'a, T, impl FnOnce(String) -> W>
    where
        W: Future<Output = Result<T>>,
    {
        self.step_with_key(name, |_| work)
    }

    /// Runs a [`step`](Self::step) with an idempotency key: a string of 32 hexadecimal
    /// digits that is unique to this step, and the same in every replay. Pass it to
    /// a payment service, for example, which then does not charge twice.
    ///
    /// ```
    /// # use bowline::server::{Conversation, Result};
    /// # struct Bank;
    /// # impl Bank { async fn charge(&self, key: String) -> Result<String> { Ok(key) } }
    /// # async fn example(cx: Conversation<Bank>) -> Result<String> {
    /// let receipt = cx.step_with_key("charge", |key| cx.state().charge(key)).await?;
    /// # Ok(receipt)
    /// # }
    /// ```
    pub fn step_with_key<'a, T, F, W>(&'a self, name: &'a str, work: F) -> Step<'a, T, F>
    where
        F: FnOnce(String) -> W,
        W: Future<Output = Result<T>>,
    {
        Step::new(&self.context.invocation, &self.scope, name, work)
    }

    /// Returns the unique id of this conversation, which is the same in all its
    /// rounds and on all nodes: 32 hexadecimal digits.
    ///
    /// A `tools/call` without the `requestState` of an earlier round starts a new
    /// conversation.
    #[must_use]
    pub fn id(&self) -> &str {
        self.context.invocation.id()
    }

    /// Asks any question that the protocol allows. For `key`, see
    /// [`Elicitation::key`].
    ///
    /// # Errors
    ///
    /// Returns an error if the client cannot be asked or does not answer.
    pub async fn ask(
        &self,
        question: impl Into<crate::proto::model::InputRequest>,
        key: Option<&str>,
    ) -> Result<RawJson> {
        let question = OutgoingQuestion {
            request: question.into(),
            key,
            timeout: None,
        };
        self.scope.ask(&self.context.invocation, question).await
    }

    /// Returns the context of the call, without the ability to ask.
    #[must_use]
    pub fn context(&self) -> HandlerContext<S> {
        self.context.clone()
    }
}

impl<S> Deref for Conversation<S> {
    type Target = HandlerContext<S>;

    fn deref(&self) -> &HandlerContext<S> {
        &self.context
    }
}

/// The same conversation, for several parts of a handler.
impl<S> Clone for Conversation<S> {
    fn clone(&self) -> Self {
        Self {
            context: self.context.clone(),
            scope: Arc::clone(&self.scope),
        }
    }
}

impl<S> fmt::Debug for Conversation<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut conversation = f.debug_struct("Conversation");
        conversation
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

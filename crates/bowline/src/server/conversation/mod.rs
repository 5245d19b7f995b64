//! Talking with the client while it waits for an answer.
//!
//! [`Conversation`] is what an author sees: questions to the user and to
//! models, steps, branches. [`ServerContext`] is the part of it that asks
//! nothing. Below them, [`invocation`] is one call of a client's, and
//! [`client_channel`] the way back to it; [`question`], [`step`] and the [deadlines](branch::deadline) of
//! branches are where live conversations and replayed ones part, and nowhere
//! else. [`lifecycle`] says whether the caller is still there, and what goes on
//! without them. [`scope`] names what is asked and done, and keeps it within bounds.

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
pub use context::ServerContext;
pub use elicit::{
    Elicitation, Elicited, OnDecline, RetryingElicitation, StrictElicitation, UrlElicitation,
};
pub use roots::RootsRequest;
pub use sample::{
    ModelPrompt, Sample, SampleText, SampleToolCalls, SampleValue, Sampled, StructuredSample,
    ToolCalls,
};
pub use step::Step;

/// Asks the user and models, in the middle of a call.
///
/// Questions are awaited like anything else; between them there is ordinary
/// code, with loops, branches and early returns. What the client is asked, and
/// when, is the same in every revision of the protocol, but on 2026-07-28 it
/// is done by *replay*: a call that must ask ends with its question, and when
/// the client comes back with the answer, the handler runs again from its
/// start and is told all earlier answers at once. So:
///
/// - Code between questions may run several times. What must happen once, or
///   may come out differently each time (the clock, a random number, a
///   database), belongs in a [`step`](Self::step).
/// - Questions that are asked together, with `join!`, go out together.
/// - While a question is open, other work in flight is dropped; steps are
///   waited for.
///
/// It has all that a [`ServerContext`] has.
pub struct Conversation<S = ()> {
    context: ServerContext<S>,
    pub(super) scope: Arc<Scope>,
}

impl Conversation {
    /// The same, for what is made for servers with this state.
    pub(crate) fn for_state<S>(self) -> Conversation<S> {
        Conversation {
            context: self.context.for_state(),
            scope: self.scope,
        }
    }
}

impl<S> Conversation<S> {
    pub(crate) fn new(context: ServerContext<S>) -> Self {
        let scope = Arc::new(Scope::root(&context.invocation.limits));
        Self { context, scope }
    }

    /// The same call, in a branch.
    pub(super) fn in_scope(&self, scope: Arc<Scope>) -> Self {
        let context = self.context.clone();
        Self { context, scope }
    }

    /// Asks the user to fill in a form.
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

    /// Asks the user for a plain yes. Anything else is an error: that they
    /// said no, or went away.
    ///
    /// # Errors
    ///
    /// Where there is no yes; and as with every question, where the client
    /// cannot be asked or does not answer.
    pub async fn confirm(&self, message: impl Into<String>) -> Result<()> {
        self.elicit::<Confirmation>(message)
            .strict()
            .await?
            .into_result()
    }

    /// Sends the user to a page, for what a client should not see: signing in,
    /// paying. Accepting means that they agreed to go there, and no more.
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

    /// Asks the client which places it works in.
    pub fn roots(&self) -> RootsRequest<'_> {
        RootsRequest::new(&self.context.invocation, &self.scope)
    }

    /// Asks a model.
    ///
    /// The model is given what was said before in this conversation, and then
    /// the prompt; both the prompt and the answer are remembered. See
    /// [`ModelPrompt`] for what else it may be.
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

    /// Begins a conversation within this one, which comes to one value.
    ///
    /// It knows what was said to models before, but what is said in it is not
    /// remembered outside. It may run at the same time as others, with
    /// `join!`. It may not ask the user, unless it is
    /// [allowed to](Branch::allow_elicit).
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

    /// What was said to models in this conversation, and by them; in a branch,
    /// together with what it has inherited.
    #[must_use]
    pub fn messages(&self) -> Vec<SamplingMessage> {
        self.scope.history.messages()
    }

    /// What had been said when this branch began, in what it is a branch of.
    #[must_use]
    pub fn parent_messages(&self) -> &[SamplingMessage] {
        &self.scope.history.parent_messages
    }

    /// What models are told first.
    #[must_use]
    pub fn system(&self) -> Option<&str> {
        self.scope.history.system.as_deref()
    }

    /// What models are told first in what this is a branch of.
    #[must_use]
    pub fn parent_system(&self) -> Option<&str> {
        self.scope.history.parent_system.as_deref()
    }

    /// How deep this branch is; 0 for the call itself.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.scope.bounds.depth
    }

    /// Does something once in the conversation, however often that is
    /// replayed, and on however many nodes: what it returned is remembered.
    ///
    /// The name tells steps apart, and says in errors which one it was. The
    /// same name may be used again, in a loop. A step's error arrives as
    /// [`ErrorKind::Failed`](crate::server::ErrorKind::Failed), whatever it was. A step
    /// must neither ask anything nor take steps of its own.
    ///
    /// A step that has begun comes to its end even if the client goes away
    /// meanwhile; a client that then repeats its round goes on from there.
    ///
    /// It fails with what it returns, and with
    /// [`ErrorKind::OutcomeUnknown`](crate::server::ErrorKind::OutcomeUnknown)
    /// where it was begun and nobody knows what came of it, unless there is a way
    /// to [find out](Step::recover): its node died, or could not write down how
    /// it ended, or its caller left and it took too long.
    pub fn step<'a, T, W>(&'a self, name: &'a str, work: W) -> Step<'a, T, impl FnOnce(String) -> W>
    where
        W: Future<Output = Result<T>>,
    {
        self.step_with_key(name, |_| work)
    }

    /// As [`step`](Self::step), with a key for the step that is the same however
    /// often the step is come to, and that no other step has: what a payment
    /// service wants to see so as not to charge twice. It has 32 characters of
    /// `0-9` and `a-f`.
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

    /// A name of this conversation that no other has, the same in all its
    /// rounds and on all nodes: 32 characters of `0-9` and `a-f`.
    ///
    /// A call that is made again, without the state of an earlier one, is
    /// another conversation.
    #[must_use]
    pub fn id(&self) -> &str {
        self.context.invocation.id()
    }

    /// Asks anything that the protocol lets servers ask.
    ///
    /// # Errors
    ///
    /// Where the client cannot be asked, or does not answer.
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

    /// The part of it that asks nothing.
    #[must_use]
    pub fn context(&self) -> ServerContext<S> {
        self.context.clone()
    }
}

impl<S> Deref for Conversation<S> {
    type Target = ServerContext<S>;

    fn deref(&self) -> &ServerContext<S> {
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

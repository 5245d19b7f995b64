//! A handler's way to ask people and models.

use std::{fmt, future::Future, ops::Deref, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Elicitation, RootsQuestion, ServerContext, Visit, ask::Question, elicit::Confirm, scope::Scope,
};
use crate::{
    proto::jsonrpc::RawJson,
    server::{error::Result, form::Elicit},
};

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
    scope: Arc<Scope>,
}

impl<S> Conversation<S> {
    pub(crate) fn new(context: ServerContext<S>) -> Self {
        Self {
            context,
            scope: Arc::new(Scope::root()),
        }
    }

    /// Asks the user to fill in a form.
    ///
    /// ```
    /// # use bowline::server::{Conversation, Elicited, Result, form::Form};
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
        Elicitation::new(&self.context.call, &self.scope, message.into())
    }

    /// Asks the user for a plain yes. Anything else is an error: that they
    /// said no, or went away.
    ///
    /// # Errors
    ///
    /// Where there is no yes; and as with every question, where the client
    /// cannot be asked or does not answer.
    pub async fn confirm(&self, message: impl Into<String>) -> Result<()> {
        self.elicit::<Confirm>(message).strict().await?.verdict()
    }

    /// Sends the user to a page, for what a client should not see: signing in,
    /// paying. Accepting means that they agreed to go there, and no more.
    pub fn visit(&self, message: impl Into<String>, url: impl Into<String>) -> Visit<'_> {
        Visit::new(&self.context.call, &self.scope, message.into(), url.into())
    }

    /// Asks the client which places it works in.
    pub fn roots(&self) -> RootsQuestion<'_> {
        RootsQuestion::new(&self.context.call, &self.scope)
    }

    /// Does something once in the conversation, however often that is
    /// replayed, and on however many nodes: what it returned is remembered.
    ///
    /// The name tells steps apart, and says in errors which one it was. The
    /// same name may be used again, in a loop. A step's error arrives as
    /// [`ErrorKind::Failed`](crate::server::ErrorKind::Failed), whatever it was. A step must not ask anything.
    ///
    /// # Errors
    ///
    /// What the step returns; and where it was begun before and its end is not
    /// known, since the node died.
    pub async fn step<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let id = self.scope.repeated(name);
        self.context.call.step(&id, work).await
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
        let question = Question {
            request: question.into(),
            key,
            timeout: None,
        };
        self.context.call.ask(&self.scope, question).await
    }

    /// The part of it that asks nothing.
    #[must_use]
    pub fn server(&self) -> ServerContext<S> {
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

//! Roots requests.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

use super::{invocation::Invocation, question::OutgoingQuestion, scope::Scope};
use crate::{
    proto::model::{ListRootsParams, ListRootsResult, ResultObject as _, Root},
    server::{
        builder_methods::question_options,
        error::{Error, Result},
    },
};

/// A request for the client's roots. Await it to send it.
#[must_use = "the question is only sent when awaited"]
#[derive(Debug)]
pub struct RootsRequest<'a> {
    invocation: &'a Invocation,
    scope: &'a Scope,
    key: Option<&'a str>,
    timeout: Option<Duration>,
}

impl<'a> RootsRequest<'a> {
    pub(super) fn new(invocation: &'a Invocation, scope: &'a Scope) -> Self {
        Self {
            invocation,
            scope,
            key: None,
            timeout: None,
        }
    }

    question_options!();

    async fn ask(self) -> Result<Vec<Root>> {
        let question = OutgoingQuestion {
            request: ListRootsParams::default().into(),
            key: self.key,
            timeout: self.timeout,
        };
        let answer = self.scope.ask(self.invocation, question).await?;
        let answer = ListRootsResult::decode(answer.get().as_bytes());
        let answer = answer.map_err(|fault| Error::invalid_answer(&fault))?;
        Ok(answer.roots)
    }
}

impl<'a> IntoFuture for RootsRequest<'a> {
    type Output = Result<Vec<Root>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.ask())
    }
}

//! Asking the client: live where servers may, by replay where they may not.

use std::time::Duration;

use super::{
    call::Call,
    scope::Scope,
    step::{in_a_step, not_in_a_step},
};
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{Adapt as _, InputKind, InputRequest, decode},
        revision::Era,
        server::Outcome as Ended,
    },
    server::{
        error::{Error, ErrorKind, Result},
        replay::{
            journal::{Mark, Outcome},
            stage::{Asked, Entered, Stage},
            state::is_answer,
        },
    },
};

/// A question on its way.
pub(super) struct Question<'a> {
    pub(super) request: InputRequest,
    pub(super) key: Option<&'a str>,
    pub(super) timeout: Option<Duration>,
}

impl Call {
    /// Asks, and waits for the answer. The client must have declared that it
    /// answers such questions.
    pub(super) async fn ask(&self, scope: &Scope, question: Question<'_>) -> Result<RawJson> {
        if in_a_step() {
            return Err(not_in_a_step("ask"));
        }
        self.count_question()?;
        let id = scope.question(question.key)?;
        match &self.stage {
            Some(stage) => self.ask_on_stage(stage, &id, question).await,
            None => self.ask_live(question).await,
        }
    }

    async fn ask_live(&self, question: Question<'_>) -> Result<RawJson> {
        self.check(&question.request)?;
        match self.voice.ask(question.request, question.timeout).await {
            Ended::Result(answer) => decode(&answer).map_err(|fault| Error::invalid_answer(&fault)),
            Ended::Refused(object) => Err(Error::refused(object)),
            Ended::Failed(failure) => Err(Error::unanswered(&failure)),
        }
    }

    async fn ask_on_stage(
        &self,
        stage: &Stage,
        id: &str,
        question: Question<'_>,
    ) -> Result<RawJson> {
        let keyed = question.key.is_some();
        let mut question = question.request;
        question.adapt(&self.context.rules.dialect);
        let mark = Mark::of_question(&question)?;
        match stage.enter(id, mark) {
            // Nothing is told to what diverged, until all ends.
            Entered::Recorded | Entered::Diverged => {}
            Entered::New => {
                if let Err(error) = self.check(&question) {
                    stage.leave(id);
                    return Err(error);
                }
                // Who knows the key of a question may bring its answer along.
                let offer = if keyed { stage.take_offer(id) } else { None };
                match offer.filter(|offer| is_answer(&question, offer)) {
                    Some(answer) => stage.record(id, mark, Outcome::Value(answer)),
                    None => {
                        let id = id.into();
                        stage.ask(Asked { id, mark, question });
                    }
                }
            }
        }
        match stage.told(id).await {
            Some(Outcome::Value(answer)) => Ok(answer),
            Some(other) => other.read(),
            None => Err(put_off()),
        }
    }

    /// Whether the client may be asked this: by what it declared, and by what
    /// the revision can say.
    fn check(&self, question: &InputRequest) -> Result<()> {
        if let Some(capability) = self.context.lacks(question) {
            return Err(Error::capability(capability));
        }
        if let InputKind::Elicit(params) = &question.kind
            && let Some(why) = params.unsupported(&self.context.rules.dialect)
        {
            return Err(Error::of(ErrorKind::NotInThisRevision, why));
        }
        Ok(())
    }

    /// Whether the conversation does again what it did in earlier rounds.
    pub(super) fn is_replaying(&self) -> bool {
        self.stage.as_ref().is_some_and(Stage::is_replaying)
    }

    /// Whether questions wait for another round instead of the client.
    pub(crate) fn is_replayed(&self) -> bool {
        self.context.era() == Era::Stateless
    }
}

/// What those are told who wait outside of the conversation itself.
pub(super) fn put_off() -> Error {
    let message = "the conversation was put off until the client has answered";
    Error::of(ErrorKind::Disconnected, message)
}

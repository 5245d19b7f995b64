//! Asking the client: live if servers may send requests, by replay if they may
//! not.

use std::time::Duration;

use super::{
    client_channel::ClientChannel,
    invocation::Invocation,
    scope::Scope,
    step::{is_in_step, not_allowed_in_step},
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
            journal::{EntryOutcome, Fingerprint},
            replayer::{EntryStatus, OpenQuestion, Replayer},
            state::is_valid_answer,
        },
    },
};

/// A question to send.
pub(super) struct OutgoingQuestion<'a> {
    pub(super) request: InputRequest,
    pub(super) key: Option<&'a str>,
    pub(super) timeout: Option<Duration>,
}

impl Invocation {
    /// Asks the client and waits for the answer. The client must have declared
    /// that it answers such questions.
    pub(super) async fn ask(
        &self,
        scope: &Scope,
        question: OutgoingQuestion<'_>,
    ) -> Result<RawJson> {
        if is_in_step() {
            return Err(not_allowed_in_step("ask"));
        }
        self.count_question()?;
        let id = scope.question_name(question.key)?;
        match &self.replayer {
            Some(replayer) => self.ask_replayed(replayer, &id, question).await,
            None => self.ask_live(question).await,
        }
    }

    async fn ask_live(&self, question: OutgoingQuestion<'_>) -> Result<RawJson> {
        self.check_supported(&question.request)?;
        match self.channel.ask(question.request, question.timeout).await {
            Ended::Result(answer) => {
                decode(&answer).map_err(|decode_error| Error::invalid_answer(&decode_error))
            }
            Ended::Error(object) => Err(Error::refused(object)),
            Ended::Failed(failure) => Err(Error::from_failure(&failure)),
        }
    }

    async fn ask_replayed(
        &self,
        replayer: &Replayer,
        id: &str,
        question: OutgoingQuestion<'_>,
    ) -> Result<RawJson> {
        let has_key = question.key.is_some();
        let mut question = question.request;
        question.adapt(&self.request.context.rules.features);
        let fingerprint = Fingerprint::for_question(&question)?;
        match replayer.register(id, fingerprint) {
            // A diverged entry receives nothing until the run ends.
            EntryStatus::Recorded | EntryStatus::Diverged => {}
            EntryStatus::New => {
                if let Err(error) = self.check_supported(&question) {
                    replayer.stop_waiting(id);
                    return Err(error);
                }
                // A client that knows the key of a question may send its answer
                // along.
                let early_answer = if has_key {
                    replayer.take_early_answer(id)
                } else {
                    None
                };
                match early_answer.filter(|early_answer| is_valid_answer(&question, early_answer)) {
                    Some(answer) => replayer.record(id, fingerprint, EntryOutcome::Value(answer)),
                    None => {
                        let id = id.into();
                        replayer.ask(OpenQuestion {
                            id,
                            fingerprint,
                            question,
                        });
                    }
                }
            }
        }
        match replayer.wait_outcome(id).await {
            Some(EntryOutcome::Value(answer)) => Ok(answer),
            Some(other) => other.decode(),
            None => Err(suspended_error()),
        }
    }

    /// Checks that the client declared support for the question and that the
    /// revision can express it.
    fn check_supported(&self, question: &InputRequest) -> Result<()> {
        if let Some(capability) = self.request.context.missing_capability(question) {
            return Err(Error::missing_capability(capability));
        }
        if let InputKind::Elicit(params) = &question.kind
            && let Some(why) = params.unsupported_reason(&self.request.context.rules.features)
        {
            return Err(Error::with_kind(ErrorKind::NotInThisRevision, why));
        }
        Ok(())
    }

    /// Returns whether the conversation repeats what it did in earlier rounds.
    pub(super) fn is_replaying(&self) -> bool {
        self.replayer.as_ref().is_some_and(Replayer::is_replaying)
    }

    /// Returns whether questions suspend the conversation instead of asking the
    /// client live.
    pub(crate) fn uses_replay(&self) -> bool {
        let is_task = matches!(self.channel, ClientChannel::Task(_));
        is_task || self.request.context.era() == Era::Stateless
    }
}

/// Returns the error for code outside the conversation that waits for an
/// answer.
pub(super) fn suspended_error() -> Error {
    let message = "the conversation was suspended until the client answers";
    Error::with_kind(ErrorKind::Disconnected, message)
}

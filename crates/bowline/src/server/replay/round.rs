//! From one round of a conversation to the next.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use super::{
    claims::{Claims, Round, RoundClaim},
    journal::{Entry, digest, hex},
    stage::{Divergence, Fault, PutOff, Stage},
    state::{State, Thread},
};
use crate::{
    canonical::canonical,
    proto::{
        jsonrpc::{ErrorObject, code},
        model::{InputRequiredResult, InputResponses},
        server::errors,
    },
    server::{
        error::Result,
        seal::{Keyring, Unsealing},
        store::{MemoryOnce, MemoryState, OnceStore, StateStore},
    },
};

/// How a server carries conversations from round to round.
///
/// What was not given is made where it is needed, so that servers whose tools
/// ask nothing have neither keys nor stores.
pub(crate) struct Replay {
    pub(crate) keyring: OnceLock<Keyring>,
    pub(crate) once: OnceLock<Arc<dyn OnceStore>>,
    pub(crate) states: OnceLock<Arc<dyn StateStore>>,
    /// How long a conversation may go on.
    pub(crate) life: Duration,
    /// How long a state may be, sealed, before it is kept here instead.
    pub(crate) max_state: usize,
    pub(crate) clock: Clock,
    /// What the seal is for: no other server's state opens.
    pub(crate) purpose: Box<[u8]>,
}

/// What time it is.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A conversation that goes on.
pub(crate) struct Resumed {
    pub(crate) thread: Thread,
    pub(crate) stage: Stage,
    pub(crate) claims: Claims,
    pub(crate) age: Duration,
}

/// What a round brings along.
#[derive(Default)]
pub(crate) struct Brought {
    pub(crate) state: Option<String>,
    pub(crate) answers: InputResponses,
}

/// How much longer claims are kept than states are good: the clocks of nodes
/// disagree, and a claim that is forgotten too early is an effect that happens
/// twice.
const MARGIN: Duration = Duration::from_secs(5 * 60);

/// A state that only names where the rest is kept.
const KEPT_HERE: char = '@';

impl Replay {
    /// A conversation begins.
    ///
    /// # Errors
    ///
    /// Where the system has no randomness to name it with.
    pub(crate) fn begin(&self, binding: Box<str>) -> Result<Thread, ErrorObject> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).map_err(|error| errors::internal(&error.to_string()))?;
        Ok(Thread::new(binding, &nonce, (self.clock)(), self.life))
    }

    /// Takes a conversation up again.
    ///
    /// # Errors
    ///
    /// Where the state is not one of ours, not of this request, or too old; or
    /// where an answer is none.
    pub(crate) async fn resume(
        &self,
        binding: &str,
        state: &str,
        answers: &InputResponses,
    ) -> Result<Resumed, ErrorObject> {
        let state = self.open(state).await?;
        if *state.thread.binding != *binding {
            return Err(refused("it belongs to another request"));
        }
        let now = (self.clock)();
        let ttl = state
            .thread
            .left(now)
            .ok_or_else(|| refused("it is too old: make the call anew, without it"))?;
        let (thread, journal) = state.answered(answers)?;
        let claims = Claims {
            store: Arc::clone(self.once()),
            nonce: thread.nonce.clone(),
            history: history(&journal)?,
            ttl: ttl + MARGIN,
        };
        Ok(Resumed {
            age: thread.age(now),
            stage: Stage::new(journal),
            thread,
            claims,
        })
    }

    /// Claims the round that begins.
    ///
    /// # Errors
    ///
    /// Where the store failed.
    pub(crate) async fn claim(&self, resumed: &Resumed) -> Result<Round, ErrorObject> {
        let claims = &resumed.claims;
        RoundClaim::claim(self.once(), &claims.nonce, &claims.history, claims.ttl).await
    }

    /// Puts a conversation off: what to ask the client, and the state to bring
    /// back.
    pub(crate) async fn suspend(
        &self,
        thread: &Thread,
        kept: PutOff,
    ) -> Result<InputRequiredResult, ErrorObject> {
        let PutOff { journal, asked } = kept;
        let state = State::new(thread.clone(), journal, &asked);
        let plain = serde_json::to_vec(&state).map_err(|error| internal(&error))?;
        let mut sealed = self.keyring().seal(&self.purpose, &plain);
        if sealed.len() > self.max_state {
            sealed = self.keep_here(thread, sealed).await?;
        }
        let questions = asked
            .into_iter()
            .map(|it| (it.id.into_string(), it.question));
        let mut result = InputRequiredResult::default();
        result.input_requests = Some(questions.collect());
        result.request_state = Some(sealed);
        Ok(result)
    }

    async fn keep_here(&self, thread: &Thread, sealed: String) -> Result<String, ErrorObject> {
        let mark = hex(&digest([sealed.as_bytes()])[..16]);
        let handle = format!("{}/{mark}", thread.nonce);
        let ttl = thread.left((self.clock)()).unwrap_or_default();
        let saved = self.states().save(&handle, sealed.into(), ttl).await;
        saved.map_err(|error| internal(&error))?;
        let name = format!("{KEPT_HERE}{handle}");
        Ok(self.keyring().seal(&self.purpose, name.as_bytes()))
    }

    async fn open(&self, sealed: &str) -> Result<State, ErrorObject> {
        let mut plain = self.unseal(sealed)?;
        if let Some(handle) = plain.strip_prefix(&[KEPT_HERE as u8]) {
            let handle = String::from_utf8_lossy(handle);
            let kept = self.states().load(&handle).await;
            let kept = kept.map_err(|error| internal(&error))?;
            let kept = kept.ok_or_else(|| {
                refused("it is too old, or kept elsewhere: make the call anew, without it")
            })?;
            plain = self.unseal(&String::from_utf8_lossy(&kept))?;
        }
        serde_json::from_slice(&plain).map_err(|error| internal(&error))
    }

    fn keyring(&self) -> &Keyring {
        self.keyring.get_or_init(Keyring::random)
    }

    fn once(&self) -> &Arc<dyn OnceStore> {
        let memory = || -> Arc<dyn OnceStore> { Arc::new(MemoryOnce::default()) };
        self.once.get_or_init(memory)
    }

    fn states(&self) -> &Arc<dyn StateStore> {
        let memory = || -> Arc<dyn StateStore> { Arc::new(MemoryState::default()) };
        self.states.get_or_init(memory)
    }

    fn unseal(&self, sealed: &str) -> Result<Vec<u8>, ErrorObject> {
        let opened = self.keyring().open(&self.purpose, sealed);
        opened.map_err(|fault| match fault {
            Unsealing::UnknownKey => refused("no key of this server opens it"),
            _ => refused("it is not what this server sent"),
        })
    }
}

impl Fault {
    /// What the client and the author are told.
    pub(crate) fn explain(self) -> ErrorObject {
        let what = match self {
            Self::Failed(error) => return error,
            Self::Diverged(Divergence::Changed(id)) => {
                format!("{id:?} is another question than before")
            }
            Self::Diverged(Divergence::Missing(id)) => {
                format!("{id:?} was asked or done before, and now is not")
            }
            Self::Diverged(Divergence::Awaited(id)) => {
                format!("{id:?} was given up before, and now is waited for")
            }
        };
        errors::internal(&format!(
            "The conversation did not take the same path again: {what}. \
             What may differ from run to run belongs in a step."
        ))
    }
}

/// All that is known of a conversation, in short. Answers that only are written
/// in another way are the same.
fn history(journal: &[Entry]) -> Result<Box<str>, ErrorObject> {
    let journal = serde_json::to_value(journal).map_err(|error| internal(&error))?;
    Ok(hex(&digest([canonical(&journal).as_bytes()])[..16]).into())
}

pub(crate) fn refused(why: &str) -> ErrorObject {
    let message = format!("Invalid params: requestState is refused: {why}");
    ErrorObject::new(code::INVALID_PARAMS, message)
}

fn internal(error: &dyn std::error::Error) -> ErrorObject {
    errors::internal(&error.to_string())
}

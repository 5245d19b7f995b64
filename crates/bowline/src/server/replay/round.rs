//! From one round of a conversation to the next.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use super::{
    course::Place,
    journal::{Entry, Outcome, digest, hex},
    refusal::{expired, refused, store_failed},
    stage::PutOff,
    state::{State, Thread, millis, whole_millis},
};
use crate::{
    canonical::canonical,
    proto::{
        jsonrpc::ErrorObject,
        model::{InputRequiredResult, InputResponses},
        server::errors,
    },
    server::{
        seal::{Keyring, Unsealing, random_bytes},
        store::{JournalStore, Key, MemoryJournals, MemoryState, StateStore},
        talk::presence::Presence,
    },
};

/// How a server carries conversations from round to round.
///
/// What was not given is made where it is needed, so that servers whose tools
/// ask nothing have neither keys nor stores.
pub(crate) struct Replay {
    pub(crate) keyring: OnceLock<Keyring>,
    pub(crate) journals: OnceLock<Arc<dyn JournalStore>>,
    pub(crate) states: OnceLock<Arc<dyn StateStore>>,
    /// How long a conversation may go on.
    pub(crate) life: Duration,
    /// How long whoever plays a round may be silent before it is taken for
    /// dead.
    pub(crate) lease: Duration,
    /// How long a state may be, sealed, before it is kept here instead.
    pub(crate) max_state: usize,
    pub(crate) clock: Clock,
    /// The server, since no other's state opens.
    pub(crate) server: Box<str>,
    pub(crate) purpose: OnceLock<Arc<[u8]>>,
}

/// What time it is.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A conversation that goes on.
pub(crate) struct Resumed {
    pub(crate) thread: Thread,
    /// What it was told before.
    pub(crate) before: Vec<Entry>,
    pub(crate) answers: Vec<Entry>,
    pub(crate) place: Place,
    /// Its time is over, a little while ago.
    pub(crate) is_expired: bool,
}

/// What a round brings along.
#[derive(Default)]
pub(crate) struct Brought {
    pub(crate) state: Option<String>,
    pub(crate) answers: InputResponses,
}

/// For whom a round is played.
pub(crate) struct Caller<'a> {
    /// The request and the principal, in short.
    pub(crate) binding: &'a str,
    /// The principal, in short.
    pub(crate) account: Box<str>,
    pub(crate) presence: &'a Arc<Presence>,
}

/// How much longer journals are kept than states are good: the clocks of nodes
/// disagree, and an entry that is forgotten too early is an effect that happens
/// twice.
const MARGIN: Duration = Duration::from_secs(5 * 60);

/// A state that only names where the rest is kept.
const KEPT_HERE: char = '@';

impl Replay {
    /// A conversation of this name begins.
    pub(crate) fn begin(&self, binding: Box<str>, nonce: Box<str>, began: SystemTime) -> Thread {
        Thread::new(binding, nonce, began, self.life)
    }

    /// Takes a conversation up again.
    ///
    /// # Errors
    ///
    /// Where the state is not one of ours, not of this request, or too old; or
    /// where an answer is none.
    pub(crate) async fn resume(
        &self,
        caller: Caller<'_>,
        state: &str,
        answers: &InputResponses,
    ) -> Result<Resumed, ErrorObject> {
        let state = self.open(state, &caller.account).await?;
        if *state.thread.binding != *caller.binding {
            return Err(refused("it belongs to another request"));
        }
        let now = (self.clock)();
        let left = state.thread.left(now);
        // Until then it is known whether it has ended.
        let late = millis(now).saturating_sub(whole_millis(MARGIN / 2));
        if left.is_none() && late >= state.thread.expires {
            return Err(expired());
        }
        let answers = state.answers(answers)?;
        let holder: [u8; 16] = random_bytes();
        let place = Place {
            store: Arc::clone(self.journals()),
            keyring: self.keyring().clone(),
            purpose: Arc::clone(self.purpose()),
            id: state.thread.nonce.clone(),
            account: caller.account,
            holder: hex(&holder).into(),
            lease: self.lease,
            history: history(state.journal.iter().chain(&answers)),
            from: state.position,
            ttl: left.unwrap_or_default() + MARGIN,
            clock: Arc::clone(&self.clock),
            presence: Arc::clone(caller.presence),
        };
        Ok(Resumed {
            thread: state.thread,
            before: state.journal,
            answers,
            place,
            is_expired: left.is_none(),
        })
    }

    /// How long a conversation may still go on.
    pub(crate) fn left(&self, thread: &Thread) -> Option<Duration> {
        thread.left((self.clock)())
    }

    /// Puts a conversation off that may go on for so long: what to ask the
    /// client, and the state to bring back.
    pub(crate) async fn suspend(
        &self,
        thread: Thread,
        left: Duration,
        account: &str,
        position: u64,
        kept: PutOff,
    ) -> Result<InputRequiredResult, ErrorObject> {
        let PutOff { journal, asked } = kept;
        let nonce = thread.nonce.clone();
        let state = State::new(thread, journal, position, &asked);
        let plain = serde_json::to_vec(&state).map_err(|error| internal(&error))?;
        let mut sealed = self.keyring().seal(self.purpose(), &plain);
        if sealed.len() > self.max_state {
            sealed = self.keep_here(&nonce, account, sealed, left).await?;
        }
        let questions = asked
            .into_iter()
            .map(|it| (it.id.into_string(), it.question));
        let mut result = InputRequiredResult::default();
        result.input_requests = Some(questions.collect());
        result.request_state = Some(sealed);
        Ok(result)
    }

    async fn keep_here(
        &self,
        nonce: &str,
        account: &str,
        sealed: String,
        left: Duration,
    ) -> Result<String, ErrorObject> {
        let mark = hex(&digest([sealed.as_bytes()])[..16]);
        let id = format!("{nonce}/{mark}");
        let key = Key::new(&id, account);
        let saved = self.states().save(key, sealed.into(), left + MARGIN).await;
        saved.map_err(|error| store_failed(&error))?;
        let name = format!("{KEPT_HERE}{id}");
        Ok(self.keyring().seal(self.purpose(), name.as_bytes()))
    }

    async fn open(&self, sealed: &str, account: &str) -> Result<State, ErrorObject> {
        let mut plain = self.unseal(sealed)?;
        if let Some(id) = plain.strip_prefix(&[KEPT_HERE as u8]) {
            let id = String::from_utf8_lossy(id);
            let kept = self.states().load(Key::new(&id, account)).await;
            let kept = kept.map_err(|error| store_failed(&error))?;
            let kept = kept.ok_or_else(|| {
                refused("it is too old, or kept elsewhere: make the call anew, without it")
            })?;
            plain = self.unseal(&String::from_utf8_lossy(&kept))?;
        }
        let other = "another version of this server made it: make the call anew, without it";
        serde_json::from_slice(&plain).map_err(|_| refused(other))
    }

    fn keyring(&self) -> &Keyring {
        self.keyring.get_or_init(Keyring::random)
    }

    fn journals(&self) -> &Arc<dyn JournalStore> {
        let memory = || -> Arc<dyn JournalStore> { Arc::new(MemoryJournals::default()) };
        self.journals.get_or_init(memory)
    }

    fn states(&self) -> &Arc<dyn StateStore> {
        let memory = || -> Arc<dyn StateStore> { Arc::new(MemoryState::default()) };
        self.states.get_or_init(memory)
    }

    /// What the seal is for: no other server's state opens, nor one that
    /// belongs to a journal that is gone.
    fn purpose(&self) -> &Arc<[u8]> {
        self.purpose.get_or_init(|| {
            let journals = self.journals().instance().unwrap_or("shared");
            let purpose = format!("state of {} in {journals}", self.server);
            purpose.into_bytes().into()
        })
    }

    fn unseal(&self, sealed: &str) -> Result<Vec<u8>, ErrorObject> {
        let opened = self.keyring().open(self.purpose(), sealed);
        opened.map_err(|fault| match fault {
            Unsealing::UnknownKey => refused("no key of this server opens it"),
            _ => refused("it is not what this server sent"),
        })
    }
}

/// All that is known of a conversation, in short. Answers that only are written
/// in another way are the same.
fn history<'a>(entries: impl Iterator<Item = &'a Entry>) -> Box<str> {
    let mut all: Vec<Cow<'_, [u8]>> = Vec::new();
    for Entry { id, mark, outcome } in entries {
        let (kind, what): (&[u8; 1], _) = match outcome {
            Outcome::Value(value) => (b"v", canonical(value.get().as_bytes())),
            Outcome::Failed(why) => (b"f", why.as_bytes().into()),
            Outcome::GivenUp(seconds) => (b"d", seconds.to_le_bytes().to_vec().into()),
            Outcome::Unknown => (b"u", b"".into()),
        };
        let mark = [&mark.to_bytes()[..], kind].concat();
        all.extend([id.as_bytes().into(), mark.into(), what]);
    }
    hex(&digest(all.iter().map(|part| &**part))[..16]).into()
}

fn internal(error: &dyn std::error::Error) -> ErrorObject {
    errors::internal(&error.to_string())
}

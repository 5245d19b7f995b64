//! Suspends and resumes conversations between rounds.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use super::{
    error::{expired, invalid_state, store_failed},
    journal::{Entry, EntryOutcome, digest, hex},
    replayer::Suspension,
    state::{ConversationInfo, SuspendedState, duration_millis, unix_millis},
    stored_journal::JournalAccess,
};
use crate::{
    canonical::canonicalize,
    proto::{
        jsonrpc::ErrorObject,
        model::{InputRequiredResult, InputResponses},
        server::errors,
    },
    server::{
        conversation::lifecycle::Lifecycle,
        seal::{SealKeys, UnsealError, random_bytes},
        store::{
            ConversationKey, JournalStore, MemoryJournalStore, MemorySealedStateStore,
            SealedStateStore,
        },
    },
};

/// Carries a server's conversations from round to round.
///
/// Missing keys and stores are created on first use, so servers whose tools ask
/// nothing have neither.
pub(crate) struct ReplayEngine {
    pub(crate) seal_keys: OnceLock<SealKeys>,
    pub(crate) journal_store: OnceLock<Arc<dyn JournalStore>>,
    pub(crate) sealed_state_store: OnceLock<Arc<dyn SealedStateStore>>,
    /// How long a conversation may last.
    pub(crate) conversation_timeout: Duration,
    /// How long a node that runs a round may be silent before it is considered
    /// dead.
    pub(crate) lease_timeout: Duration,
    /// The maximum size of a sealed state that is sent to the client; a larger one
    /// is stored on the server.
    pub(crate) max_sealed_state_bytes: usize,
    pub(crate) clock: Clock,
    /// The name of the server. States of other servers do not open.
    pub(crate) server_name: Box<str>,
    /// The purpose for sealing, if the journals have no generation.
    pub(crate) purpose: OnceLock<Arc<[u8]>>,
}

/// Returns the current time.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A resumed conversation.
pub(crate) struct ResumedConversation {
    pub(crate) info: ConversationInfo,
    /// The events delivered in earlier rounds.
    pub(crate) before: Vec<Entry>,
    pub(crate) answers: Vec<Entry>,
    pub(crate) access: JournalAccess,
    /// It expired a short while ago.
    pub(crate) is_expired: bool,
    /// Whether this is its first round.
    pub(crate) is_first: bool,
}

/// The state and answers a round receives.
#[derive(Default)]
pub(crate) struct ResumeInput {
    pub(crate) state: Option<String>,
    pub(crate) answers: InputResponses,
}

/// The caller of a round.
pub(crate) struct RoundCaller<'a> {
    /// A digest of the request and the principal.
    pub(crate) binding: &'a str,
    /// A digest of the principal.
    pub(crate) account: Box<str>,
    pub(crate) lifecycle: &'a Arc<Lifecycle>,
}

/// How much longer journals are kept than states are valid: the clocks of nodes
/// differ, and an entry lost too early is a side effect that happens twice.
const JOURNAL_TTL_MARGIN: Duration = Duration::from_secs(5 * 60);

/// The prefix of a state that only names where the rest is stored.
const STORED_STATE_PREFIX: char = '@';

impl ReplayEngine {
    /// Begins a conversation with this nonce.
    pub(crate) fn begin(
        &self,
        binding: Box<str>,
        nonce: Box<str>,
        started_at: SystemTime,
    ) -> ConversationInfo {
        ConversationInfo::new(binding, nonce, started_at, self.conversation_timeout)
    }

    /// Begins a conversation whose state the server keeps itself. Returns the state
    /// from which its first round is resumed, so that round has a journal too.
    pub(crate) async fn begin_kept(
        &self,
        binding: &str,
        account: &str,
        timeout: Duration,
    ) -> Result<String, ErrorObject> {
        let nonce: [u8; 16] = random_bytes();
        let started_at = (self.clock)();
        let info = ConversationInfo::new(binding.into(), hex(&nonce).into(), started_at, timeout);
        let nothing = Suspension {
            journal: Vec::new(),
            questions: Vec::new(),
        };
        let suspended = self.suspend(info, timeout, account, 0, nothing).await?;
        Ok(suspended.request_state.unwrap_or_default())
    }

    /// Resumes a conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if the state is not ours, belongs to another request or
    /// has expired, or if an answer is invalid.
    pub(crate) async fn resume(
        &self,
        caller: RoundCaller<'_>,
        state: &str,
        answers: &InputResponses,
    ) -> Result<ResumedConversation, ErrorObject> {
        // Before the state is opened: what is opened later belongs to this one, or fails.
        let generation = self.journal_store().generation();
        let state = self.load_state(state, &caller.account).await?;
        if *state.info.binding != *caller.binding {
            return Err(invalid_state("it belongs to another request"));
        }
        let now = (self.clock)();
        let left = state.info.time_left(now);
        // Until then it is known whether it has ended.
        let late = unix_millis(now).saturating_sub(duration_millis(JOURNAL_TTL_MARGIN / 2));
        if left.is_none() && late >= state.info.expires_at {
            return Err(expired());
        }
        let answers = state.answers(answers)?;
        let holder: [u8; 16] = random_bytes();
        let access = JournalAccess {
            store: Arc::clone(self.journal_store()),
            generation,
            seal_keys: self.seal_keys().clone(),
            purpose: self.purpose(),
            id: state.info.nonce.clone(),
            account: caller.account,
            holder: hex(&holder).into(),
            lease: self.lease_timeout,
            history_digest: history_digest(state.journal.iter().chain(&answers)),
            first_position: state.position,
            ttl: left.unwrap_or_default() + JOURNAL_TTL_MARGIN,
            clock: Arc::clone(&self.clock),
            lifecycle: Arc::clone(caller.lifecycle),
        };
        Ok(ResumedConversation {
            is_first: state.is_unstarted(),
            info: state.info,
            before: state.journal,
            answers,
            access,
            is_expired: left.is_none(),
        })
    }

    /// Returns how long a conversation may continue.
    pub(crate) fn time_left(&self, info: &ConversationInfo) -> Option<Duration> {
        info.time_left((self.clock)())
    }

    /// Suspends a conversation: returns the questions for the client and the
    /// state to send back.
    pub(crate) async fn suspend(
        &self,
        info: ConversationInfo,
        left: Duration,
        account: &str,
        position: u64,
        suspension: Suspension,
    ) -> Result<InputRequiredResult, ErrorObject> {
        let Suspension {
            journal,
            questions: open_questions,
        } = suspension;
        let nonce = info.nonce.clone();
        let state = SuspendedState::new(info, journal, position, &open_questions);
        let plain = serde_json::to_vec(&state).map_err(|error| internal(&error))?;
        let mut sealed = self.seal_keys().seal(&self.purpose(), &plain);
        if sealed.len() > self.max_sealed_state_bytes {
            sealed = self.store_state(&nonce, account, sealed, left).await?;
        }
        let questions = open_questions
            .into_iter()
            .map(|it| (it.id.into_string(), it.question));
        let mut result = InputRequiredResult::default();
        result.input_requests = Some(questions.collect());
        result.request_state = Some(sealed);
        Ok(result)
    }

    async fn store_state(
        &self,
        nonce: &str,
        account: &str,
        sealed: String,
        left: Duration,
    ) -> Result<String, ErrorObject> {
        let suffix = hex(&digest([sealed.as_bytes()])[..16]);
        let id = format!("{nonce}/{suffix}");
        let key = ConversationKey::new(&id, account);
        let saved = self
            .sealed_state_store()
            .save(key, sealed.into(), left + JOURNAL_TTL_MARGIN)
            .await;
        saved.map_err(|error| store_failed(&error))?;
        let name = format!("{STORED_STATE_PREFIX}{id}");
        Ok(self.seal_keys().seal(&self.purpose(), name.as_bytes()))
    }

    async fn load_state(&self, sealed: &str, account: &str) -> Result<SuspendedState, ErrorObject> {
        let mut plain = self.unseal(sealed)?;
        if let Some(id) = plain.strip_prefix(&[STORED_STATE_PREFIX as u8]) {
            let id = String::from_utf8_lossy(id);
            let stored = self
                .sealed_state_store()
                .load(ConversationKey::new(&id, account))
                .await;
            let stored = stored.map_err(|error| store_failed(&error))?;
            let stored = stored.ok_or_else(|| {
                invalid_state(
                    "it has expired or is stored on another node: repeat the call without it",
                )
            })?;
            plain = self.unseal(&String::from_utf8_lossy(&stored))?;
        }
        let other = "it was created by another version of this server: repeat the call without it";
        serde_json::from_slice(&plain).map_err(|_| invalid_state(other))
    }

    pub(crate) fn seal_keys(&self) -> &SealKeys {
        self.seal_keys.get_or_init(SealKeys::random)
    }

    fn journal_store(&self) -> &Arc<dyn JournalStore> {
        let memory = || -> Arc<dyn JournalStore> { Arc::new(MemoryJournalStore::default()) };
        self.journal_store.get_or_init(memory)
    }

    fn sealed_state_store(&self) -> &Arc<dyn SealedStateStore> {
        let memory =
            || -> Arc<dyn SealedStateStore> { Arc::new(MemorySealedStateStore::default()) };
        self.sealed_state_store.get_or_init(memory)
    }

    /// Returns the purpose for sealing: states of other servers, or of a lost
    /// journal, do not open.
    fn purpose(&self) -> Arc<[u8]> {
        let store = self.journal_store();
        let of = |journals: &str| {
            let purpose = format!("state of {} in {journals}", self.server_name);
            purpose.into_bytes().into()
        };
        match (store.instance_id(), store.generation()) {
            (None, Some(generation)) => of(&generation),
            (instance_id, _) => {
                let journals = instance_id.unwrap_or("shared");
                Arc::clone(self.purpose.get_or_init(|| of(journals)))
            }
        }
    }

    fn unseal(&self, sealed: &str) -> Result<Vec<u8>, ErrorObject> {
        let opened = self.seal_keys().open(&self.purpose(), sealed);
        opened.map_err(|fault| match fault {
            UnsealError::UnknownKey => invalid_state("it was sealed with an unknown key"),
            _ => invalid_state("it is malformed or was altered"),
        })
    }
}

/// Returns a digest of all entries of a conversation. Answers that differ only
/// in notation are equal.
fn history_digest<'a>(entries: impl Iterator<Item = &'a Entry>) -> Box<str> {
    let mut all: Vec<Cow<'_, [u8]>> = Vec::new();
    for Entry {
        id,
        fingerprint,
        outcome,
    } in entries
    {
        let (kind, what): (&[u8; 1], _) = match outcome {
            EntryOutcome::Value(value) => (b"v", canonicalize(value.get().as_bytes())),
            EntryOutcome::Failed(why) => (b"f", why.as_bytes().into()),
            EntryOutcome::Abandoned(seconds) => (b"d", seconds.to_le_bytes().to_vec().into()),
            EntryOutcome::Unknown => (b"u", b"".into()),
        };
        let fingerprint = [&fingerprint.to_bytes()[..], kind].concat();
        all.extend([id.as_bytes().into(), fingerprint.into(), what]);
    }
    hex(&digest(all.iter().map(|part| &**part))[..16]).into()
}

fn internal(error: &dyn std::error::Error) -> ErrorObject {
    errors::internal_error(&error.to_string())
}

//! Effects that happen once, on all nodes, however often a round is repeated.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, timeout};

use super::{journal::Outcome, round::refused};
use crate::{
    proto::{jsonrpc::ErrorObject, server::errors},
    server::store::{Claim, OnceStore},
};

/// How often to look whether another node has come to an end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long to wait for a sign of life.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often to give one.
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// The claims of one conversation on what happens once.
pub(crate) struct Claims {
    pub(crate) store: Arc<dyn OnceStore>,
    /// The conversation.
    pub(crate) nonce: Box<str>,
    /// All that was known when this round began. Another round that comes to
    /// the same step with other answers is another course of events, and one
    /// conversation has only one.
    pub(crate) history: Box<str>,
    /// How long claims are kept: longer than the conversation may go on.
    pub(crate) ttl: Duration,
}

/// What is written under a claim.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(rename = "h")]
    history: Box<str>,
    /// What came of it, once that is known.
    #[serde(rename = "o")]
    outcome: Option<Outcome>,
    /// How often there was a sign of life.
    #[serde(rename = "b")]
    beats: u64,
}

impl Claims {
    /// Does something that happens once in the conversation, or tells what came
    /// of it. If it was begun elsewhere and does not come to an end, nobody
    /// knows what came of it; the conversation is told so, and may look.
    ///
    /// # Errors
    ///
    /// Where the round cannot go on, and nothing was done: the store failed, or
    /// the conversation went on with other answers before.
    pub(crate) async fn once(
        &self,
        id: &str,
        work: impl Future<Output = Outcome>,
    ) -> Result<Outcome, ErrorObject> {
        let key = format!("{}/{id}", self.nonce);
        let begun = self.write(None, 0)?;
        let mut beats = 0;
        let mut patience = Instant::now() + PATIENCE;
        loop {
            let claim = self.store.claim(&key, begun.clone(), self.ttl).await;
            match claim.map_err(|error| unavailable(&error))? {
                Claim::First => break,
                Claim::Earlier(written) => {
                    let earlier: Written =
                        serde_json::from_slice(&written).map_err(|error| unavailable(&error))?;
                    if earlier.history != self.history {
                        return Err(refused("the conversation has gone on with other answers"));
                    }
                    if let Some(outcome) = earlier.outcome {
                        return Ok(outcome);
                    }
                    if earlier.beats != beats {
                        (beats, patience) = (earlier.beats, Instant::now() + PATIENCE);
                    }
                }
            }
            if Instant::now() >= patience {
                return Ok(Outcome::Failed(UNKNOWN_END.into()));
            }
            sleep(LOOK_EVERY).await;
        }
        let outcome = self.tend(&key, work).await?;
        let ended = self.write(Some(&outcome), 0)?;
        // It has happened. If that cannot be written down, whoever repeats the
        // round is told that its end is unknown; it does not happen again.
        let _ = self.store.put(&key, ended, self.ttl).await;
        Ok(outcome)
    }

    /// Does the work, and gives signs of life for those who wait for its end.
    async fn tend(
        &self,
        key: &str,
        work: impl Future<Output = Outcome>,
    ) -> Result<Outcome, ErrorObject> {
        let mut work = pin!(work);
        let mut beats = 0;
        loop {
            if let Ok(outcome) = timeout(BEAT_EVERY, work.as_mut()).await {
                return Ok(outcome);
            }
            beats += 1;
            let mut beat = self.store.put(key, self.write(None, beats)?, self.ttl);
            let outcome = tokio::select! {
                biased;
                outcome = work.as_mut() => outcome,
                _ = beat.as_mut() => continue,
            };
            // It must not arrive after what is written next.
            let _ = beat.await;
            return Ok(outcome);
        }
    }

    fn write(&self, outcome: Option<&Outcome>, beats: u64) -> Result<Bytes, ErrorObject> {
        let written = Written {
            history: self.history.clone(),
            outcome: outcome.cloned(),
            beats,
        };
        let written = serde_json::to_vec(&written).map_err(|error| unavailable(&error))?;
        Ok(written.into())
    }
}

const UNKNOWN_END: &str = "This step was begun before, and its end is not known";

fn unavailable(error: &dyn std::error::Error) -> ErrorObject {
    errors::internal(&format!("The store of the server failed: {error}"))
}

/// The claim of a whole round: who repeats the last one gets the same answer.
pub(crate) struct RoundClaim {
    store: Arc<dyn OnceStore>,
    key: String,
    ttl: Duration,
    settled: bool,
}

/// What there is to do about a round.
pub(crate) enum Round {
    /// Play it.
    Play(RoundClaim),
    /// It was played to the end of the conversation; this is what was answered.
    Played(Bytes),
}

impl RoundClaim {
    /// Claims a round. Waits while the same round is played elsewhere, but not
    /// for ever: whoever plays it may be dead. Its steps are guarded by
    /// themselves, so that to play it twice is a waste and no harm.
    ///
    /// # Errors
    ///
    /// Where the store failed.
    pub(crate) async fn claim(
        store: &Arc<dyn OnceStore>,
        nonce: &str,
        history: &str,
        ttl: Duration,
    ) -> Result<Round, ErrorObject> {
        let key = format!("{nonce}/round/{history}");
        let patience = Instant::now() + PATIENCE;
        loop {
            let claim = store.claim(&key, Bytes::new(), ttl).await;
            match claim.map_err(|error| unavailable(&error))? {
                Claim::First => break,
                Claim::Earlier(answer) if !answer.is_empty() => return Ok(Round::Played(answer)),
                Claim::Earlier(_) => {}
            }
            if Instant::now() >= patience {
                break;
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(Round::Play(Self {
            store: Arc::clone(store),
            key,
            ttl,
            settled: false,
        }))
    }

    /// The conversation ended with this answer.
    pub(crate) async fn keep(mut self, answer: Bytes) {
        self.settled = true;
        let _ = self.store.put(&self.key, answer, self.ttl).await;
    }

    /// The round may be played again: its steps are guarded by themselves.
    pub(crate) async fn release(mut self) {
        self.settled = true;
        let _ = self.store.release(&self.key).await;
    }
}

/// A round that is cut off may be played again.
impl Drop for RoundClaim {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let (store, key) = (Arc::clone(&self.store), std::mem::take(&mut self.key));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = store.release(&key).await;
            });
        }
    }
}

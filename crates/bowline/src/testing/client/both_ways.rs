//! One scenario in several revisions, which must go the same way in all.

use std::{sync::Arc, time::Duration};

use serde::Serialize;

use super::{ModelAnswer, Nodes, Outcome, TestClient, TestError, UserAnswer, difference};
use crate::proto::{
    jsonrpc::RawJson,
    model::{CreateMessageParams, ElicitParams},
    revision::Revision,
};

/// Clients of the same kind of service, one for each of several revisions;
/// [`TestClient::both_ways`] makes them.
///
/// Each has services of its own and a copy of all answers. A call is made by
/// all of them, one after the other, and how it ends and what is asked must be
/// the same. Questions are compared in their order, unless some are asked
/// together. What a revision cannot say is left out of the comparison.
///
/// Not compared are log messages and progress, which a handler sends again when
/// it is replayed.
#[derive(Debug)]
pub struct BothWays {
    ways: Vec<TestClient>,
}

impl BothWays {
    pub(super) fn new<N: Into<Nodes>>(
        revisions: impl IntoIterator<Item = Revision>,
        mut services: impl FnMut() -> N,
    ) -> Self {
        let way = |revision| TestClient::new(services()).revision(revision);
        Self {
            ways: revisions.into_iter().map(way).collect(),
        }
    }

    /// The clients, the oldest revision first.
    #[must_use]
    pub fn ways(&self) -> &[TestClient] {
        &self.ways
    }

    /// Changes all clients.
    #[must_use]
    pub fn each(self, change: impl FnMut(TestClient) -> TestClient) -> Self {
        Self {
            ways: self.ways.into_iter().map(change).collect(),
        }
    }
}

/// As with [`TestClient`].
impl BothWays {
    /// See [`TestClient::elicit`].
    #[must_use]
    pub fn elicit(self, answer: UserAnswer) -> Self {
        self.each(move |way| way.elicit(answer.clone()))
    }

    /// See [`TestClient::elicit_with`].
    #[must_use]
    pub fn elicit_with(
        self,
        answer: impl Fn(&ElicitParams) -> UserAnswer + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        self.each(|way| {
            let answer = Arc::clone(&answer);
            way.elicit_with(move |question| answer(question))
        })
    }

    /// See [`TestClient::sample`].
    #[must_use]
    pub fn sample(self, answer: impl Into<ModelAnswer>) -> Self {
        let answer = answer.into();
        self.each(|way| way.sample(answer.clone()))
    }

    /// See [`TestClient::sample_with`].
    #[must_use]
    pub fn sample_with<A: Into<ModelAnswer>>(
        self,
        answer: impl Fn(&CreateMessageParams) -> A + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        self.each(|way| {
            let answer = Arc::clone(&answer);
            way.sample_with(move |question| answer(question))
        })
    }

    /// See [`TestClient::roots`].
    #[must_use]
    pub fn roots<U: Into<String>>(self, uris: impl IntoIterator<Item = U>) -> Self {
        let uris: Vec<String> = uris.into_iter().map(Into::into).collect();
        self.each(|way| way.roots(uris.clone()))
    }

    /// See [`TestClient::without_elicitation`].
    #[must_use]
    pub fn without_elicitation(self) -> Self {
        self.each(TestClient::without_elicitation)
    }

    /// See [`TestClient::without_sampling`].
    #[must_use]
    pub fn without_sampling(self) -> Self {
        self.each(TestClient::without_sampling)
    }

    /// See [`TestClient::timeout`].
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.each(|way| way.timeout(timeout))
    }

    /// See [`TestClient::each_round_twice`].
    #[must_use]
    pub fn each_round_twice(self) -> Self {
        self.each(TestClient::each_round_twice)
    }
}

/// Calling, and looking back.
impl BothWays {
    /// Calls a tool in every revision. Where the calls differ, that is the
    /// outcome; else it is that of the newest revision.
    ///
    /// # Panics
    ///
    /// Where there is no revision at all, or the arguments cannot be written
    /// as JSON.
    pub async fn call(&self, tool: &str, arguments: impl Serialize) -> Outcome {
        let arguments = match RawJson::encode(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => panic!("the arguments cannot be written as JSON: {error}"),
        };
        let mut outcomes = Vec::new();
        for way in &self.ways {
            let outcome = way.call(tool, &arguments).await;
            outcomes.push((way.settings.revision, outcome));
        }
        let difference = difference::between(&outcomes);
        let Some((_, newest)) = outcomes.pop() else {
            panic!("there is no revision to call {tool} in");
        };
        match difference {
            None => newest,
            Some(difference) => {
                let transcript = newest.transcript().clone();
                Outcome::new(Err(TestError::Different(difference)), transcript)
            }
        }
    }

    /// Whether all queued answers were asked for, in every revision.
    ///
    /// # Errors
    ///
    /// Where some are left.
    pub fn finish(&self) -> Result<(), TestError> {
        self.ways.iter().try_for_each(TestClient::finish)
    }

    /// All queued answers were asked for, in every revision.
    ///
    /// # Panics
    ///
    /// Where some are left.
    #[track_caller]
    pub fn assert_done(&self) {
        for way in &self.ways {
            way.assert_done();
        }
    }

    /// Forgets the queued answers and the transcripts.
    pub fn reset(&self) {
        for way in &self.ways {
            way.reset();
        }
    }
}

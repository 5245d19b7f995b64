//! One scenario in several revisions, which must have the same outcome in all.

use std::{sync::Arc, time::Duration};

use serde::Serialize;

use super::{CallOutcome, ModelAnswer, Nodes, TestClient, TestError, UserAnswer, difference};
use crate::proto::{
    jsonrpc::RawJson,
    model::{CreateMessageParams, ElicitParams},
    revision::Revision,
};

/// Clients of the same service, one for each of several revisions; created by
/// [`TestClient::in_all_revisions`].
///
/// Each has its own services and a copy of all answers. A call is made by all
/// of them in turn, and its outcome and questions must be the same. Questions
/// are compared in order, unless some are asked at the same time. Whatever a
/// revision cannot express is left out of the comparison.
///
/// Log messages and progress are not compared, since a handler sends them again
/// when it is replayed.
#[derive(Debug)]
pub struct TestClients {
    clients: Vec<TestClient>,
}

impl TestClients {
    pub(super) fn new<N: Into<Nodes>>(
        revisions: impl IntoIterator<Item = Revision>,
        mut services: impl FnMut() -> N,
    ) -> Self {
        let client = |revision| TestClient::new(services()).revision(revision);
        Self {
            clients: revisions.into_iter().map(client).collect(),
        }
    }

    /// Returns the clients, the oldest revision first.
    #[must_use]
    pub fn clients(&self) -> &[TestClient] {
        &self.clients
    }

    /// Changes all clients.
    #[must_use]
    pub fn map_each(self, change: impl FnMut(TestClient) -> TestClient) -> Self {
        Self {
            clients: self.clients.into_iter().map(change).collect(),
        }
    }
}

/// As for [`TestClient`].
impl TestClients {
    /// See [`TestClient::elicit`].
    #[must_use]
    pub fn elicit(self, answer: UserAnswer) -> Self {
        self.map_each(move |client| client.elicit(answer.clone()))
    }

    /// See [`TestClient::elicit_with`].
    #[must_use]
    pub fn elicit_with(
        self,
        answer: impl Fn(&ElicitParams) -> UserAnswer + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        self.map_each(|client| {
            let answer = Arc::clone(&answer);
            client.elicit_with(move |question| answer(question))
        })
    }

    /// See [`TestClient::sample`].
    #[must_use]
    pub fn sample(self, answer: impl Into<ModelAnswer>) -> Self {
        let answer = answer.into();
        self.map_each(|client| client.sample(answer.clone()))
    }

    /// See [`TestClient::sample_with`].
    #[must_use]
    pub fn sample_with<A: Into<ModelAnswer>>(
        self,
        answer: impl Fn(&CreateMessageParams) -> A + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        self.map_each(|client| {
            let answer = Arc::clone(&answer);
            client.sample_with(move |question| answer(question))
        })
    }

    /// See [`TestClient::roots`].
    #[must_use]
    pub fn roots<U: Into<String>>(self, uris: impl IntoIterator<Item = U>) -> Self {
        let uris: Vec<String> = uris.into_iter().map(Into::into).collect();
        self.map_each(|client| client.roots(uris.clone()))
    }

    /// See [`TestClient::without_elicitation`].
    #[must_use]
    pub fn without_elicitation(self) -> Self {
        self.map_each(TestClient::without_elicitation)
    }

    /// See [`TestClient::without_sampling`].
    #[must_use]
    pub fn without_sampling(self) -> Self {
        self.map_each(TestClient::without_sampling)
    }

    /// See [`TestClient::timeout`].
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.map_each(|client| client.timeout(timeout))
    }

    /// See [`TestClient::duplicate_rounds`].
    #[must_use]
    pub fn duplicate_rounds(self) -> Self {
        self.map_each(TestClient::duplicate_rounds)
    }
}

/// Calls and inspection.
impl TestClients {
    /// Calls a tool in every revision. The outcome is an error if the calls
    /// differ, or else that of the latest revision.
    ///
    /// # Panics
    ///
    /// Panics if there is no revision at all, or the arguments cannot be
    /// serialized as JSON.
    pub async fn call(&self, tool: &str, arguments: impl Serialize) -> CallOutcome {
        let arguments = match RawJson::encode(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => panic!("the arguments cannot be serialized as JSON: {error}"),
        };
        let mut outcomes = Vec::new();
        for client in &self.clients {
            let outcome = client.call(tool, &arguments).await;
            outcomes.push((client.settings.revision, outcome));
        }
        let difference = difference::describe_differences(&outcomes);
        let Some((_, newest)) = outcomes.pop() else {
            panic!("there is no revision to call {tool} in");
        };
        match difference {
            None => newest,
            Some(difference) => {
                let transcript = newest.transcript().clone();
                CallOutcome::new(Err(TestError::RevisionsDiffer(difference)), transcript)
            }
        }
    }

    /// Checks that all queued answers were used in every revision.
    ///
    /// # Errors
    ///
    /// Returns an error if some are left.
    pub fn check_all_used(&self) -> Result<(), TestError> {
        self.clients.iter().try_for_each(TestClient::check_all_used)
    }

    /// Asserts that all queued answers were used in every revision.
    ///
    /// # Panics
    ///
    /// Panics if some are left.
    #[track_caller]
    pub fn assert_all_used(&self) {
        for client in &self.clients {
            client.assert_all_used();
        }
    }

    /// Removes the queued answers and the transcripts.
    pub fn reset(&self) {
        for client in &self.clients {
            client.reset();
        }
    }
}

//! The test client: its settings, answers and transcript.

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::OnceCell;

use super::{
    ModelAnswer, Nodes, TestClients, TestError, Transcript, UserAnswer,
    answer_queues::AnswerQueues, connect::Connected, recorder::TranscriptRecorder,
};
use crate::{
    proto::{
        model::{CreateMessageParams, ElicitParams, Root},
        revision::Revision,
    },
    server::{Server, Service, Tool},
};

/// A client for tests of servers, with prepared answers of its user and its
/// model.
///
/// It is the real client over an in-memory link, so the real protocol runs:
/// arguments are validated, questions are encoded, and in the stateless era
/// every question ends a round. Uses the latest revision unless
/// [`revision`](Self::revision) sets another one.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use bowline::{
///     server::{Conversation, Tool, form::Elicit},
///     testing::{TestClient, accept},
/// };
/// use serde_json::json;
///
/// # #[cfg(feature = "macros")] {
/// #[derive(Elicit)]
/// struct Seat {
///     /// Which row?
///     row: u8,
/// }
///
/// let tool: Tool = Tool::new("seat")
///     .description("Chooses a seat")
///     .no_input()
///     .handler_with_conversation(async |_, cx: Conversation| {
///         let seat = cx.elicit::<Seat>("Where?").required().await?;
///         Ok(format!("row {}", seat.row))
///     });
///
/// let client = TestClient::for_tool(tool).elicit(accept(json!({"row": 7})));
/// client.call("seat", json!({})).await.assert_text("row 7");
/// assert_eq!(client.transcript().asked(), ["Where?"]);
/// client.assert_all_used();
/// # }
/// # });
/// ```
///
/// If several questions are open at once, answers are used in the order in
/// which the questions are asked, as long as the runtime has one thread, as
/// with `#[tokio::test]`. Time may be paused.
pub struct TestClient {
    pub(super) nodes: Nodes,
    pub(super) settings: Settings,
    pub(super) answers: Arc<AnswerQueues>,
    pub(super) recorder: Arc<TranscriptRecorder>,
    pub(super) connected: OnceCell<Connected>,
}

/// The settings and capabilities of the client.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) revision: Revision,
    pub(super) elicitation: bool,
    pub(super) url_elicitation: bool,
    pub(super) sampling: bool,
    pub(super) sampling_tools: bool,
    pub(super) roots: Option<Vec<Root>>,
    pub(super) timeout: Duration,
    /// How often each round is sent.
    pub(super) repetitions: usize,
}

/// Constructors.
impl TestClient {
    /// Creates a client of this service, or of two nodes of one.
    #[must_use]
    pub fn new(nodes: impl Into<Nodes>) -> Self {
        Self {
            nodes: nodes.into(),
            settings: Settings {
                revision: Revision::LATEST,
                elicitation: true,
                url_elicitation: true,
                sampling: true,
                sampling_tools: true,
                roots: None,
                timeout: Duration::from_secs(30),
                repetitions: 1,
            },
            answers: Arc::default(),
            recorder: Arc::default(),
            connected: OnceCell::new(),
        }
    }

    /// Creates a client of this server.
    ///
    /// # Panics
    ///
    /// Panics if the server cannot be built.
    #[must_use]
    #[track_caller]
    pub fn for_server<S: Send + Sync + 'static>(server: Server<S>) -> Self {
        match server.build() {
            Ok(service) => Self::new(service),
            Err(error) => panic!("{error}"),
        }
    }

    /// Creates a client of a server that has only this tool.
    ///
    /// # Panics
    ///
    /// Panics if the tool cannot be served.
    #[must_use]
    #[track_caller]
    pub fn for_tool(tool: Tool) -> Self {
        Self::for_tool_with_state(tool, ())
    }

    /// Like [`for_tool`](Self::for_tool), for a tool that needs a state.
    ///
    /// # Panics
    ///
    /// Panics if the tool cannot be served.
    #[must_use]
    #[track_caller]
    pub fn for_tool_with_state<S: Send + Sync + 'static>(tool: Tool<S>, state: S) -> Self {
        Self::for_server(Server::new("test", "1.0.0").state(state).tool(tool))
    }

    /// Creates a client of two nodes that share keys and stores. In the
    /// stateless era, rounds alternate between them; in the handshake era, a
    /// session stays with the first.
    #[must_use]
    pub fn on_two_nodes<S: Send + Sync + 'static>(a: Service<S>, b: Service<S>) -> Self {
        Self::new((a, b))
    }

    /// Runs a scenario in every revision in which servers can ask questions,
    /// each with its own services, and compares: questions during an open call
    /// in the handshake era, and repeated calls with answers in the stateless
    /// era.
    #[must_use]
    pub fn in_all_revisions<N: Into<Nodes>>(services: impl FnMut() -> N) -> TestClients {
        let can_ask = |revision: &Revision| revision.rules().features.elicitation.form;
        TestClients::new(Revision::ALL.into_iter().filter(can_ask), services)
    }

    /// Like [`in_all_revisions`](Self::in_all_revisions), in these revisions.
    #[must_use]
    pub fn in_revisions<N: Into<Nodes>>(
        revisions: impl IntoIterator<Item = Revision>,
        services: impl FnMut() -> N,
    ) -> TestClients {
        TestClients::new(revisions, services)
    }
}

/// Answers of the user and the model.
impl TestClient {
    /// Queues an answer of the user. Answers are used in this order, and a
    /// question for which none is left is an error.
    #[must_use]
    pub fn elicit(self, answer: UserAnswer) -> Self {
        self.answers.queue_elicit(answer);
        self
    }

    /// Computes the user's answers to all questions for which none is queued.
    #[must_use]
    pub fn elicit_with(
        self,
        answer: impl Fn(&ElicitParams) -> UserAnswer + Send + Sync + 'static,
    ) -> Self {
        self.answers.compute_elicit(Arc::new(answer));
        self
    }

    /// Queues an answer of the model: a string, or any [`ModelAnswer`].
    #[must_use]
    pub fn sample(self, answer: impl Into<ModelAnswer>) -> Self {
        self.answers.queue_sample(answer.into());
        self
    }

    /// Computes the model's answers to all questions for which none is queued.
    #[must_use]
    pub fn sample_with<A: Into<ModelAnswer>>(
        self,
        answer: impl Fn(&CreateMessageParams) -> A + Send + Sync + 'static,
    ) -> Self {
        let answer = move |question: &CreateMessageParams| answer(question).into();
        self.answers.compute_sample(Arc::new(answer));
        self
    }

    /// Sets the roots of the client. Without this it has no roots, and does not
    /// declare the capability.
    #[must_use]
    pub fn roots<U: Into<String>>(self, uris: impl IntoIterator<Item = U>) -> Self {
        let roots = uris.into_iter().map(Root::new).collect();
        self.update_settings(|settings| settings.roots = Some(roots))
    }
}

/// Settings and capabilities.
impl TestClient {
    /// Sets the protocol revision. Default: the latest.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        self.update_settings(|settings| settings.revision = revision)
    }

    /// Disables elicitation.
    #[must_use]
    pub fn without_elicitation(self) -> Self {
        self.update_settings(|settings| settings.elicitation = false)
    }

    /// Disables URL elicitation.
    #[must_use]
    pub fn without_url_elicitation(self) -> Self {
        self.update_settings(|settings| settings.url_elicitation = false)
    }

    /// Disables tools in sampling requests.
    #[must_use]
    pub fn without_sampling_tools(self) -> Self {
        self.update_settings(|settings| settings.sampling_tools = false)
    }

    /// Disables sampling.
    #[must_use]
    pub fn without_sampling(self) -> Self {
        self.update_settings(|settings| settings.sampling = false)
    }

    /// Sets the timeout of calls. Default: 30 seconds, as with any client.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.update_settings(|settings| settings.timeout = timeout)
    }

    /// Sends every round that carries answers twice and uses the second result,
    /// like a client that lost the first response. Side effects of the server
    /// must not happen twice.
    ///
    /// The first round of a call is sent once: without a state from the server,
    /// a second one is another call. Nothing is repeated in the handshake era.
    #[must_use]
    pub fn duplicate_rounds(self) -> Self {
        self.repeat_rounds(2)
    }

    /// Like [`duplicate_rounds`](Self::duplicate_rounds), this many times.
    #[must_use]
    pub fn repeat_rounds(self, times: usize) -> Self {
        self.update_settings(|settings| settings.repetitions = times.max(1))
    }

    /// Changes a setting. Existing connections are dropped.
    fn update_settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self.connected = OnceCell::new();
        self
    }
}

/// Inspection.
impl TestClient {
    /// Returns the whole transcript so far.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        self.recorder.transcript()
    }

    /// Checks that all queued answers were used.
    ///
    /// # Errors
    ///
    /// Returns an error if some are left.
    pub fn check_all_used(&self) -> Result<(), TestError> {
        self.answers.check_all_used()
    }

    /// Asserts that all queued answers were used.
    ///
    /// # Panics
    ///
    /// Panics if some are left.
    #[track_caller]
    pub fn assert_all_used(&self) {
        if let Err(error) = self.check_all_used() {
            panic!("{error}\n{}", self.transcript());
        }
    }

    /// Removes the queued answers and the transcript. Functions that compute
    /// answers stay, and so does the connection.
    pub fn reset(&self) {
        self.answers.clear();
        self.recorder.clear();
    }
}

impl fmt::Debug for TestClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestClient")
            .field("revision", &self.settings.revision)
            .field("nodes", &self.nodes)
            .finish_non_exhaustive()
    }
}

//! The client itself: what it is told before it calls, and what it knows after.

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

/// A client that a test of a server talks through. Its user and its model
/// answer what the test says.
///
/// It is the real client over a link in memory, so that the real protocol runs:
/// arguments are checked, questions are encoded, and on revisions without
/// sessions every question ends a round. The newest revision is spoken unless
/// [`revision`](Self::revision) says otherwise.
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
///     .handler_with_context(async |_, cx: Conversation| {
///         let seat = cx.elicit::<Seat>("Where?").strict().await?;
///         Ok(format!("row {}", seat.row))
///     });
///
/// let client = TestClient::of_tool(tool).elicit(accept(json!({"row": 7})));
/// client.call("seat", json!({})).await.assert_text("row 7");
/// assert_eq!(client.transcript().asked(), ["Where?"]);
/// client.assert_done();
/// # }
/// # });
/// ```
///
/// Where several questions are open at once, answers are taken in the order in
/// which the questions are asked, as long as the runtime has one thread, as
/// that of `#[tokio::test]` has. Time may be paused.
pub struct TestClient {
    pub(super) nodes: Nodes,
    pub(super) settings: Settings,
    pub(super) answers: Arc<AnswerQueues>,
    pub(super) recorder: Arc<TranscriptRecorder>,
    pub(super) connected: OnceCell<Connected>,
}

/// What the client is and can do.
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

/// Beginning.
impl TestClient {
    /// A client of this service, or of two nodes of one.
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

    /// A client of this server.
    ///
    /// # Panics
    ///
    /// Where the server cannot be built.
    #[must_use]
    #[track_caller]
    pub fn for_server<S: Send + Sync + 'static>(server: Server<S>) -> Self {
        match server.build() {
            Ok(service) => Self::new(service),
            Err(error) => panic!("{error}"),
        }
    }

    /// A client of a server that has this tool and nothing else.
    ///
    /// # Panics
    ///
    /// Where the tool cannot be served.
    #[must_use]
    #[track_caller]
    pub fn for_tool(tool: Tool) -> Self {
        Self::for_tool_with_state(tool, ())
    }

    /// As [`of_tool`](Self::of_tool), for a tool that needs a state.
    ///
    /// # Panics
    ///
    /// Where the tool cannot be served.
    #[must_use]
    #[track_caller]
    pub fn for_tool_with_state<S: Send + Sync + 'static>(tool: Tool<S>, state: S) -> Self {
        Self::for_server(Server::new("test", "1.0.0").state(state).tool(tool))
    }

    /// A client of two nodes that share keys and stores. Where the protocol
    /// keeps no state, each round goes to the other one; where it does, a
    /// session stays with the first.
    #[must_use]
    pub fn on_two_nodes<S: Send + Sync + 'static>(a: Service<S>, b: Service<S>) -> Self {
        Self::new((a, b))
    }

    /// Runs a scenario in every revision in which servers can ask users, each
    /// with services of its own, and compares: where questions are asked while
    /// the call is open, and where the call is repeated with the answers.
    #[must_use]
    pub fn in_all_revisions<N: Into<Nodes>>(services: impl FnMut() -> N) -> TestClients {
        let can_ask = |revision: &Revision| revision.rules().dialect.elicitation.form;
        TestClients::new(Revision::ALL.into_iter().filter(can_ask), services)
    }

    /// As [`both_ways`](Self::both_ways), in these revisions.
    #[must_use]
    pub fn in_revisions<N: Into<Nodes>>(
        revisions: impl IntoIterator<Item = Revision>,
        services: impl FnMut() -> N,
    ) -> TestClients {
        TestClients::new(revisions, services)
    }
}

/// What the user and the model answer.
impl TestClient {
    /// Queues an answer of the user's. Answers are given in this order, and a
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

    /// Queues an answer of the model's: a text, or any [`ModelAnswer`].
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

    /// The places that the client works in. Without this it has no roots, and
    /// does not say that it could have.
    #[must_use]
    pub fn roots<U: Into<String>>(self, uris: impl IntoIterator<Item = U>) -> Self {
        let roots = uris.into_iter().map(Root::new).collect();
        self.update_settings(|settings| settings.roots = Some(roots))
    }
}

/// What the client is.
impl TestClient {
    /// The revision to speak; the newest unless given.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        self.update_settings(|settings| settings.revision = revision)
    }

    /// The client cannot ask its user anything.
    #[must_use]
    pub fn without_elicitation(self) -> Self {
        self.update_settings(|settings| settings.elicitation = false)
    }

    /// The client cannot send its user to a page.
    #[must_use]
    pub fn without_url_elicitation(self) -> Self {
        self.update_settings(|settings| settings.url_elicitation = false)
    }

    /// The client's model cannot be given tools.
    #[must_use]
    pub fn without_sampling_tools(self) -> Self {
        self.update_settings(|settings| settings.sampling_tools = false)
    }

    /// The client has no model.
    #[must_use]
    pub fn without_sampling(self) -> Self {
        self.update_settings(|settings| settings.sampling = false)
    }

    /// How long a call may take: 30 seconds, as with any client.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.update_settings(|settings| settings.timeout = timeout)
    }

    /// Sends every round that brings answers twice and takes the second
    /// result, as a client does whose first one got lost. What a server does
    /// once must not happen twice.
    ///
    /// The round that begins a call is sent once: without a state that a server
    /// gave out, a second one is another call. Nor is anything repeated where
    /// the protocol keeps sessions.
    #[must_use]
    pub fn duplicate_rounds(self) -> Self {
        self.repeat_rounds(2)
    }

    /// As [`duplicate_rounds`](Self::each_round_twice), this many times.
    #[must_use]
    pub fn repeat_rounds(self, times: usize) -> Self {
        self.update_settings(|settings| settings.repetitions = times.max(1))
    }

    /// Changes a setting. What was connected before is not any more.
    fn update_settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self.connected = OnceCell::new();
        self
    }
}

/// Looking back.
impl TestClient {
    /// All that was said so far, in order.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        self.recorder.transcript()
    }

    /// Whether all queued answers were asked for.
    ///
    /// # Errors
    ///
    /// Where some are left.
    pub fn check_all_used(&self) -> Result<(), TestError> {
        self.answers.check_all_used()
    }

    /// All queued answers were asked for.
    ///
    /// # Panics
    ///
    /// Where some are left.
    #[track_caller]
    pub fn assert_all_used(&self) {
        if let Err(error) = self.check_all_used() {
            panic!("{error}\n{}", self.transcript());
        }
    }

    /// Forgets the queued answers and the transcript. Functions that compute
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

//! Calls where the protocol keeps no state: round by round, as the test wants.

use super::{TestClient, TestError, connect::Connected};
use crate::{
    client::{CallTool, Continuation, Error, ToolTurn},
    proto::{
        client::{Config, Failure},
        jsonrpc::RawJson,
        model::{CallToolResult, InputRequests, InputResponses, method},
    },
};

impl TestClient {
    /// Makes a call, answers its questions, and sends it again with the
    /// answers, until it is done. Each request goes to the next node.
    pub(super) async fn call_by_rounds(
        &self,
        connected: &Connected,
        tool: &str,
        arguments: &RawJson,
    ) -> Result<CallToolResult, TestError> {
        // Rounds that go on for ever are a fault of the server's; clients stop.
        let limit = Config::new("", "").max_rounds;
        let mut nodes = connected.clients.iter().cycle();
        let mut next = || nodes.next().unwrap_or(&connected.clients[0]);
        let mut turn = self.turn(next().tools().call(tool, arguments)).await?;
        for _ in 0..limit {
            let continuation = match turn {
                ToolTurn::Done(result) => return Ok(*result),
                ToolTurn::NeedsInput(continuation) => continuation,
            };
            let answers = self.answers(continuation.questions())?;
            for _ in 1..self.settings.times {
                self.record.mute(true);
                let again = self.round(next(), &continuation, &answers).await;
                self.record.mute(false);
                // What a client does not see, it does not mind.
                drop(again);
            }
            turn = self.round(next(), &continuation, &answers).await?;
        }
        match turn {
            ToolTurn::Done(result) => Ok(*result),
            ToolTurn::NeedsInput(_) => Err(TestError::TooManyRounds { limit }),
        }
    }

    async fn round(
        &self,
        client: &crate::Client,
        continuation: &Continuation,
        answers: &InputResponses,
    ) -> Result<ToolTurn, TestError> {
        let call = client.tools().resume(continuation.clone(), answers);
        self.turn(call).await
    }

    async fn turn(&self, call: CallTool<'_>) -> Result<ToolTurn, TestError> {
        let call = call.with(|call| self.dress(call));
        Ok(call.park_on_input().await?)
    }

    /// The answers to all questions of a round, in their order.
    fn answers(&self, questions: &InputRequests) -> Result<InputResponses, TestError> {
        let roots = self.settings.roots.as_deref().unwrap_or_default();
        let mut answers = InputResponses::default();
        for (key, question) in questions.iter() {
            match self.script.answer(question, roots)? {
                Ok(answer) => {
                    answers.insert(key.to_owned(), answer);
                }
                // A refusal has no words here: the client gives the call up.
                Err(_) => {
                    let failure = Failure::InputAbandoned;
                    return Err(Error::failed(method::TOOLS_CALL, failure).into());
                }
            }
        }
        Ok(answers)
    }
}
